"""PostgreSQL is stopped under load and started again: database_away.py FOLDER

Each service stays alive but not ready, responds correctly or with 503, and serves again within seconds of the
database's return.
"""

import os
import pathlib
import shlex
import subprocess
import sys
import time

from services import NAMES, Load, Service, check, say

folder = pathlib.Path(sys.argv[1])
bin, work, url = (os.environ[name] for name in ("POSTGRES_BIN", "POSTGRES_WORK", "POSTGRES_URL"))
user = os.environ["POSTGRES_USER"]


def as_postgres(*command, **options):
    prefix = ["runuser", "-u", user, "--"] if os.getuid() == 0 else []
    return subprocess.Popen([*prefix, *command], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


def own_database(name):
    subprocess.run([f"{bin}/psql", url, "-qc", f"CREATE DATABASE {name}_away"], check=True)
    return url.rsplit("/", 1)[0] + f"/{name}_away"


services = []
for name in (name for name in NAMES if name != "passwords"):
    service = Service(name, folder / name, DATABASE_URL=own_database(name))
    service.run("migrate")
    services.append(service.load_samples().start())
options = shlex.split(pathlib.Path(work, "data/postmaster.opts").read_text())
loads = [Load(service, pause=0.02) for service in services]
for load in loads:
    load.__enter__()
time.sleep(1)
check(as_postgres(f"{bin}/pg_ctl", "--pgdata", f"{work}/data", "--mode=fast", "--wait", "stop").wait() == 0, "PostgreSQL does not stop")
for service in services:
    service.await_status("/readyz", 503, 10)
for load in loads:
    load.statuses.clear()
time.sleep(3)
for service, load in zip(services, loads):
    check(service.ask("/healthz", port=service.admin)[0] == 200, f"{service.name} is not alive")
    check(set(load.statuses) <= {200, 503}, f"{service.name} without its database: {load.counted()}")
    load.away = load.counted()
server = as_postgres(*options)
for service, load in zip(services, loads):
    seconds = service.await_status("/readyz", 200, 20)
    say(f"{service.name}: without PostgreSQL {load.away}; ready {seconds:.1f} s after its start")
for load in loads:
    load.recover()
for service, load in zip(services, loads):
    load.__exit__()
    service.stop()
