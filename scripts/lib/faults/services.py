"""Services for the fault stories: started with sample data, queried, measured, stopped."""

import atexit
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter

BIN = pathlib.Path(os.environ["FAULTS_BIN"])
SAMPLES = pathlib.Path("samples")
NAMES = sorted(manifest.parent.name for manifest in pathlib.Path("services").glob("*/Cargo.toml"))
ADMIN_KEY = "0123456789abcdef0123456789abcdef"
ACCOUNT = "/api/v3/breachedaccount/account-exists%40breach-integration-tests.example"


# Removes the mounts and processes of a story at its end.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: the story was ended"))


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def check(passed, what):
    if not passed:
        sys.exit(f"error: {what}")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Service:
    """A program with its own data folder and settings."""

    def __init__(self, name, folder, preload=None, logs=None, **settings):
        self.name, self.folder, self.preload = name, pathlib.Path(folder), preload
        self.folder.mkdir(parents=True, exist_ok=True)
        self.logs = pathlib.Path(logs or self.folder.parent)
        self.http, self.admin, self.process = free_port(), free_port(), None
        self.settings = {"DATA_DIR": str(folder), "BIND": f"127.0.0.1:{self.http}", "TLS_MODE": "off",
                         "ADMIN_BIND": f"127.0.0.1:{self.admin}", "AUTO_MIGRATE": "true", "ACCESS_LOG": "off",
                         "RUST_LOG": "warn", "ADMIN_KEY": ADMIN_KEY, "DB_WAIT_MS": "500", **settings}
        if name == "passwords":
            del self.settings["AUTO_MIGRATE"]
        if name == "calendar":
            self.settings |= {"RATE_READ_RPM": "0", "RATE_WRITE_RPM": "0"}
        self.headers = {"user-agent": "faults"}

    def environment(self):
        added = dict(self.settings)
        if self.preload:
            added["LD_PRELOAD"] = str(self.preload)
        return {**os.environ, **added}

    def run(self, *arguments, codes=(0,)):
        """Runs a command and returns its stdout; an unexpected exit code ends the story."""
        ran = subprocess.run([BIN / self.name, *map(str, arguments)], env=self.environment(), text=True,
                             capture_output=True, timeout=300)
        check(ran.returncode in codes, f"{self.name} {' '.join(map(str, arguments))}: {ran.returncode}\n{ran.stderr}")
        check("panicked" not in ran.stderr, f"{self.name} panicked:\n{ran.stderr}")
        self.said = ran.stderr
        return ran.stdout.strip()

    def load_samples(self):
        """Loads the data that `probe` reads, and issues its key."""
        if self.name == "buckets":
            self.run("load", SAMPLES / "buckets")
            self.run("plans", "set", "premium", "--per-minute", "1000000", "--burst", "100000")
            self.headers["authorization"] = "Bearer " + self.run("keys", "issue", "faults", "--plan", "premium")
        elif self.name == "generator":
            self.run("plans", "set", "standard", "--per-minute", "1000000", "--burst", "100000")
            self.headers["x-api-key"] = self.run("keys", "issue", "faults", "--plan", "standard")
        elif self.name == "breaches":
            self.headers["breach-api-key"] = "0" * 32
        elif self.name == "passwords":
            self.run("build", "--input-format", "plaintext", "--kind", "sha1", "--activate", SAMPLES / "passwords.txt")
        elif self.name == "calendar":
            self.run("load", SAMPLES / "calendar.ndjson")
            self.headers["authorization"] = "Bearer " + ADMIN_KEY
        return self

    def start(self, until="/readyz"):
        self.log = open(self.logs / f"{self.name}-{self.http}.log", "ab")
        self.process = subprocess.Popen([BIN / self.name, "serve"], env=self.environment(), stdout=self.log, stderr=self.log)
        # A story that ends early leaves no server behind.
        atexit.register(self.process.kill)
        self.await_status(until, 200, 30)
        return self

    def ask(self, path, method="GET", body=None, port=None, timeout=10, **headers):
        """Returns status and body. The status is 0 without a response."""
        link = http.client.HTTPConnection("127.0.0.1", port or self.http, timeout=timeout)
        try:
            sent = {**self.headers, **headers}
            if body is not None:
                body, sent["content-type"] = json.dumps(body), "application/json"
            link.request(method, path, body, sent)
            answer = link.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            link.close()

    def probe_path(self):
        return {"generator": "/api/Card?type=Visa&seed=demo", "buckets": "/api/v2/files?keywords=backup&limit=1",
                "breaches": ACCOUNT, "passwords": "/range/5BAA6",
                "calendar": "/calendar/events/v1/events?per_page=1&start_date=2000-01-01&search=half+marathon"}[self.name]

    def is_right(self, body):
        return {"generator": b'"cardNumber":"', "buckets": b'"results":2', "breaches": b'"Name":"Acmegram"',
                "passwords": b"1E4C9B93F3F0682250B6CF8331B7EE68FD8:", "calendar": b'"title":"Half Marathon"'}[self.name] in body

    def probe(self, **options):
        """Sends the request that every story repeats and returns its status; a 200 with a wrong body ends the story."""
        status, body = self.ask(self.probe_path(), **options)
        check(status != 200 or self.is_right(body), f"{self.name} gave a wrong answer: {body[:300]}")
        return status

    def await_status(self, path, wanted, seconds):
        until, begun = time.monotonic() + seconds, time.monotonic()
        while (status := self.ask(path, port=self.admin, timeout=3)[0]) != wanted:
            check(self.process.poll() is None, f"{self.name} has stopped: {self.printed()}")
            check(time.monotonic() < until, f"{self.name}{path} stays {status} for {seconds} s: {self.printed()}")
            time.sleep(0.05)
        return time.monotonic() - begun

    def memory(self):
        """Resident memory, in MiB."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) / 1024

    def printed(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")[-2000:]

    def stop(self, seconds=40):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        check(code == 0, f"{self.name} ended with {code}: {self.printed()}")
        check("panicked" not in self.printed(), f"{self.name} panicked: {self.printed()}")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Load:
    """Threads that repeat the probe and count its statuses until the end of a `with`."""

    def __init__(self, service, threads=4, pause=0.0):
        self.service, self.statuses, self.pause = service, Counter(), pause
        self.over = threading.Event()
        self.wrong = []
        self.threads = [threading.Thread(target=self.repeat, daemon=True) for _ in range(threads)]

    def repeat(self):
        while not self.over.is_set():
            status, body = self.service.ask(self.service.probe_path())
            if status == 200 and not self.service.is_right(body):
                self.wrong.append(body[:300])
            self.statuses[status] += 1
            time.sleep(self.pause)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(20)
        check(not self.wrong, f"{self.service.name} gave wrong answers: {self.wrong[:3]}")

    def recover(self, seconds=20):
        """Waits until all responses within one second are 200."""
        until = time.monotonic() + seconds
        while True:
            self.statuses.clear()
            time.sleep(1)
            if set(self.statuses) == {200}:
                return
            check(time.monotonic() < until, f"{self.service.name} with its database again: {self.counted()}")

    def counted(self):
        return ", ".join(f"{count} times {status or 'no answer'}" for status, count in sorted(self.statuses.items()))
