"""ClickHouse's engine (the package chdb) behind the HTTP interface that its clients speak, for tests.

It serves one query at a time: GET and POST, parameters `param_*`, settings, chunked and plain bodies.
It ends when its standard input does.
"""

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import chdb.session

session = chdb.session.Session()
lock = threading.Lock()
not_settings = {"query", "database", "query_id", "session_id", "session_timeout", "default_format", "role"}


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.serve()

    def do_POST(self):
        self.serve()

    def serve(self):
        url = urlparse(self.path)
        if url.path == "/ping":
            return self.answer(200, b"Ok.\n")
        options = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        sent = self.body()
        query = options.get("query", "")
        statement = query + "\n" + sent.decode() if query else sent.decode()
        settings = [f"SET {name} = {quoted(value)}" for name, value in options.items() if name not in not_settings]
        form = "JSONEachRow" if "JSONEachRow" in statement[:100000] else options.get("default_format", "TabSeparated")
        try:
            with lock:
                if "database" in options:
                    session.query(f"CREATE DATABASE IF NOT EXISTS {options['database']}")
                    session.query(f"USE {options['database']}")
                for setting in settings:
                    session.query(setting)
                found = session.query(statement, form).bytes()
            self.answer(200, found or b"", [("x-clickhouse-query-id", options.get("query_id", ""))])
        except Exception as error:  # The engine tells every fault in this way.
            self.answer(500, str(error).encode(), [("x-clickhouse-exception-code", "1")])


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print("ready", flush=True)
server.serve_forever()
