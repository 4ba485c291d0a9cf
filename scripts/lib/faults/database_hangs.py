"""PostgreSQL is frozen by SIGSTOP under load and continued: database_hangs.py FOLDER [SERVICE...]

Each request gets a response within 5 s, correct or 503; /readyz reports not ready; and the service serves again within
seconds of the server's return, without a restart.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

from services import NAMES, Load, Service, check, say

folder = pathlib.Path(sys.argv[1])
bin, work, url = (os.environ[name] for name in ("POSTGRES_BIN", "POSTGRES_WORK", "POSTGRES_URL"))


def own_database(name):
    subprocess.run([f"{bin}/psql", url, "-qc", f"CREATE DATABASE {name}_hangs"], check=True)
    return url.rsplit("/", 1)[0] + f"/{name}_hangs"


def server_processes():
    """Returns the postmaster and its children; the postmaster is first, because it would start others."""
    postmaster = int(pathlib.Path(work, "data/postmaster.pid").read_text().split()[0])
    children = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(entry.read_text().rsplit(")", 1)[1].split()[1]) == postmaster:
                children.append(int(entry.parent.name))
        except (OSError, IndexError):
            pass
    return [postmaster, *children]


def send(signal_, processes):
    for process in processes:
        try:
            os.kill(process, signal_)
        except ProcessLookupError:
            pass


services = []
for name in sys.argv[2:] or (name for name in NAMES if name != "passwords"):
    service = Service(name, folder / name, DATABASE_URL=own_database(name))
    service.run("migrate")
    services.append(service.load_samples().start())
# Slow enough for the quota of a test key of breaches.
loads = [Load(service, pause=0.1) for service in services]
for load in loads:
    load.__enter__()
time.sleep(1)
stopped = server_processes()
send(signal.SIGSTOP, stopped)
try:
    longest, seen = {service.name: 0.0 for service in services}, {service.name: set() for service in services}
    for turn in range(8):
        for service in services:
            began = time.monotonic()
            status, _ = service.ask(service.probe_path(), timeout=8)
            seen[service.name].add(status)
            longest[service.name] = max(longest[service.name], time.monotonic() - began)
            # The generator needs its database only for keys, and breaches not for test keys.
            check(status in (200, 503), f"{service.name} while PostgreSQL hangs: {status}")
            check(longest[service.name] < 5, f"{service.name} answered after {longest[service.name]:.1f} s")
            check(service.ask("/healthz", port=service.admin)[0] == 200, f"{service.name} is not alive")
            began = time.monotonic()
            status, _ = service.ask("/readyz", port=service.admin, timeout=5)
            check(status == 503, f"{service.name}: /readyz is {status} while PostgreSQL hangs")
            service.readiness = max(time.monotonic() - began, service.readiness if turn else 0)
finally:
    send(signal.SIGCONT, stopped)
for service, load in zip(services, loads):
    seconds = service.await_status("/readyz", 200, 20)
    say(f"{service.name}: answers {seen[service.name]} within {longest[service.name]:.1f} s while PostgreSQL hung, /readyz within "
        f"{service.readiness:.1f} s; ready {seconds:.1f} s after its return")
for load in loads:
    load.recover()
for service, load in zip(services, loads):
    load.__exit__()
    service.stop()
