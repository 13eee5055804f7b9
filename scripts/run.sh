#!/bin/sh
# Runs a TypeScript file with the pinned Bun: `sh scripts/run.sh <file> [arguments]`.
# Node only prepares it: this shell then becomes the program, so that nothing waits beside it and every signal reaches it.
prepared=$(node "$(dirname "$0")/prepare.mjs" "$1") || exit $?
shift
eval "$prepared"
exec "$bun" "$program" "$@"
