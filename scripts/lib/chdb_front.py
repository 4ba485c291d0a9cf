"""Serves the HTTP interface of ClickHouse over chdb, which is ClickHouse as a Python library.

Usage: chdb_front.py FOLDER USER PASSWORD PORT_FILE [SLOW_FILE]

For tests on a current ClickHouse, whose server is not in the package registries. Statements run one after another
in their order. Sessions, compression, KILL QUERY and other servers are not supported. Writes its port to PORT_FILE.
Writes the statements that take longer than a second to SLOW_FILE, with their plans. Of statements that differ only in
numbers and texts, it keeps the slowest.
"""

import base64
import os
import re
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import ChdbError, session

# Settings that a server has by default and the library lacks, and settings that the service sends with statements.
SETTINGS = {
    "mutations_sync": "0",
    "max_query_size": "67108864",
    "max_ast_elements": "10000000",
    "max_expanded_ast_elements": "10000000",
}


class Engine:
    """The only session, used by one thread at a time."""

    def __init__(self, folder, slow_file):
        self.folder = folder
        self.slow_file = slow_file
        self.slow = {}
        self.lock = threading.Lock()
        self.session = session.Session(os.path.join(folder, "data"))
        for name, value in SETTINGS.items():
            self.session.query(f"SET {name} = {value}")

    def run(self, parameters, statement, rows):
        with self.lock:
            self.session.query(f"USE {parameters.get('database', 'default')}")
            self.session.query(f"SET max_execution_time = {int(parameters.get('max_execution_time', 0))}")
            if rows is None:
                began = time.monotonic()
                answer = self.session.query(statement, "TSV").bytes()
                if time.monotonic() - began > 1 and self.slow_file:
                    self.note(statement, time.monotonic() - began)
                return answer
            into = re.fullmatch(r"(INSERT INTO \S+) FORMAT (\w+)", statement.strip())
            with tempfile.NamedTemporaryFile(dir=self.folder) as file:
                file.write(rows)
                file.flush()
                self.session.query(f"{into[1]} FROM INFILE '{file.name}' FORMAT {into[2]}")
            return b""


    def note(self, statement, seconds):
        shape = re.sub(r"'(\\.|[^'\\])*'|\d+", "?", statement)
        if seconds <= self.slow.get(shape, (0, ""))[0]:
            return
        selects = re.search(r"\bSELECT\b.*", statement, re.DOTALL)
        try:
            plan = self.session.query(f"EXPLAIN indexes = 1 {selects[0]}", "TSVRaw").bytes().decode() if selects else ""
        except ChdbError as error:
            plan = f"no plan: {error}"
        self.slow[shape] = (seconds, f"{seconds:.1f} s: {statement[:1500]}\n{plan}\n")
        with open(self.slow_file, "w") as file:
            file.writelines(text for _, text in sorted(self.slow.values(), reverse=True))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    engine = None
    expected = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parameters = dict(parse_qsl(urlsplit(self.path).query))
        if self.headers.get("Authorization") != self.expected:
            message = "Code: 516. DB::Exception: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)"
            return self.answer(403, message.encode())
        statement, rows = (parameters["query"], body) if "query" in parameters else (body.decode(), None)
        if statement.startswith("KILL QUERY"):
            return self.answer(200, b"")
        try:
            self.answer(200, self.engine.run(parameters, statement, rows))
        except ChdbError as error:
            self.answer(500, str(error).encode())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    folder, user, password, port_file, *slow_file = sys.argv[1:]
    Handler.engine = Engine(folder, *slow_file or [None])
    Handler.expected = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with open(port_file + ".new", "w") as file:
        file.write(str(server.server_port))
    os.rename(port_file + ".new", port_file)
    server.serve_forever()


main()
