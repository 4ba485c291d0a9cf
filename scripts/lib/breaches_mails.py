"""Kills servers of breaches with SIGKILL while they send mails: breaches_mails.py PROGRAM FOLDER [DATABASE_URL]

On SQLite, one server is killed and started again. On the PostgreSQL database DATABASE_URL, two servers send, and one
of them is killed. In both cases, the mails of the dead server must be sent within a minute, and everyone must get the
mail. At most the mail that was being sent may arrive twice, and then with the same Message-ID.
"""

import collections
import email
import email.policy
import json
import os
import pathlib
import re
import signal
import socketserver
import subprocess
import sys
import threading
import time

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
DATABASE = sys.argv[3] if len(sys.argv) > 3 else None
SUBSCRIBERS, BEFORE, SECONDS = 60, 8, 60
received, answering = [], threading.Lock()


class Mails(socketserver.StreamRequestHandler):
    """A slow mail server, so that a mail is always being sent."""

    def handle(self):
        self.say("220 peer")
        recipient = None
        while line := self.rfile.readline():
            command = line[:4].upper()
            if command == b"EHLO":
                self.say("250-peer\r\n250 8BITMIME")
            elif command == b"RCPT":
                recipient = re.search(rb"<(.*?)>", line)[1].decode()
                self.say("250 ok")
            elif command == b"DATA":
                self.say("354 send the mail")
                text = b""
                while (line := self.rfile.readline()) and line.strip() != b".":
                    text += line
                if not line:
                    return
                mail = email.message_from_bytes(text, policy=email.policy.default)
                received.append((time.monotonic(), recipient, mail["Message-ID"]))
                time.sleep(0.3)
                self.say("250 kept")
            elif command == b"QUIT":
                return self.say("221 bye")
            else:
                self.say("250 ok")

    def say(self, line):
        try:
            self.wfile.write(line.encode() + b"\r\n")
        except OSError:
            pass


def run(*arguments, text=None):
    subprocess.run([PROGRAM, *arguments], check=True, env=env, input=text, text=True,
                   stdout=subprocess.DEVNULL)


def serve():
    log = open(FOLDER / "server.log", "a")
    flags = ["--tls-mode", "off", "--bind", "127.0.0.1:0", "--admin-bind", "127.0.0.1:0"]
    return subprocess.Popen([PROGRAM, "serve", *flags], env=env, stdout=log, stderr=log)


def await_mails(count, seconds):
    until = time.monotonic() + seconds
    while len({recipient for _, recipient, _ in received}) < count:
        assert time.monotonic() < until, f"{len(received)} mails in {seconds} s, expected {count}"
        time.sleep(0.05)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    # Silent: clients are killed on purpose.
    handle_error = staticmethod(lambda request, client: None)


peer = Server(("127.0.0.1", 0), Mails)
threading.Thread(target=peer.serve_forever, daemon=True).start()
env = dict(os.environ, DATA_DIR=str(FOLDER), CATALOGUE_POLL_MS="200", RUST_LOG="warn",
           SMTP_URL=f"smtp://127.0.0.1:{peer.server_address[1]}")
if DATABASE:
    env["DATABASE_URL"] = DATABASE
run("migrate")
owners = [f"owner{number}@example.org" for number in range(SUBSCRIBERS)]
for owner in owners:
    run("subscriber", "add", owner)
    run("domain", "verify", owner, "corp.example")
entry = {"Name": "Alpha", "Title": "Alpha", "Domain": "", "BreachDate": "2020-02-20", "PwnCount": 1,
         "AddedDate": "2020-05-15T10:20:00Z", "ModifiedDate": "2020-05-15T10:20:00Z",
         "Description": "Invented.", "LogoPath": "https://logos.example/x.png", "Attribution": None,
         "DisclosureUrl": None, "DataClasses": ["Email addresses"]}
flags = ["Verified", "Fabricated", "Sensitive", "Retired", "SpamList", "Malware", "SubscriptionFree", "StealerLog"]
(FOLDER / "catalogue.json").write_text(json.dumps([entry | {f"Is{flag}": False for flag in flags}]))
run("catalogue", "import", str(FOLDER / "catalogue.json"))
servers = [serve() for _ in range(2 if DATABASE else 1)]
try:
    run("accounts", "load", "--breach", "Alpha", "-", text="someone@corp.example\n")
    await_mails(BEFORE, 60)
    servers[0].send_signal(signal.SIGKILL)
    servers[0].wait()
    killed, before = time.monotonic(), len(received)
    if not DATABASE:
        servers.append(serve())
    await_mails(SUBSCRIBERS, SECONDS + 0.3 * SUBSCRIBERS + 30)
    # The mail that was being sent was received, but the dead server could not record that.
    time.sleep(max(3, killed + SECONDS + 3 - time.monotonic()))
finally:
    for server in servers:
        server.kill()
        server.wait()
by_owner = collections.defaultdict(list)
for _, recipient, message in received:
    by_owner[recipient].append(message)
assert set(by_owner) == set(owners), set(owners) ^ set(by_owner)
twice = [ids for ids in by_owner.values() if len(ids) > 1]
assert len(twice) <= 1 and all(len(ids) == 2 and ids[0] == ids[1] for ids in twice), twice
assert len({ids[0] for ids in by_owner.values()}) == SUBSCRIBERS, "messages share an ID"
rest = {recipient: at - killed for at, recipient, _ in received[before:]}
late = max(rest.values())
assert late <= SECONDS + 0.3 * SUBSCRIBERS, late
kind = "PostgreSQL, two servers" if DATABASE else "SQLite"
print(f"breaches: SIGKILL after {before} of {SUBSCRIBERS} mails ({kind}): the last of the others came after {late:.0f} s, "
      f"{len(twice)} came twice, with the same Message-ID", file=sys.stderr)
