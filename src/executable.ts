/** Whether this is the one executable, whose files stand inside it, or the runtime with the files of the project. */
export const isExecutable = import.meta.dir.startsWith('/$bunfs');
