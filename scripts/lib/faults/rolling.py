"""Two replicas of the calendar on one PostgreSQL, restarted one after another under reads and writes:
rolling.py FOLDER

Clients use a ready replica, as with a load balancer. No request gets a wrong status, and every event that
was acknowledged is there at the end, on both.
"""

import itertools
import os
import pathlib
import subprocess
import sys
import threading
import time
from collections import Counter

from services import Service, check, say

folder = pathlib.Path(sys.argv[1])
bin, url = os.environ["POSTGRES_BIN"], os.environ["POSTGRES_URL"]
subprocess.run([f"{bin}/psql", url, "-qc", "CREATE DATABASE calendar_rolling"], check=True)
database = url.rsplit("/", 1)[0] + "/calendar_rolling"
# A new replica opens its connections under load, which may take longer than half a second.
settings = {"DATABASE_URL": database, "DRAIN_SECONDS": "3", "DB_WAIT_MS": "8000"}
replicas = [Service("calendar", folder / f"replica-{n}", **settings) for n in (1, 2)]
replicas[0].run("migrate")
replicas[0].load_samples()
replicas[1].headers = replicas[0].headers
for replica in replicas:
    replica.start()

over, turn = threading.Event(), itertools.cycle(replicas)
made, statuses, unserved = [], Counter(), Counter()
ready = {replica.http: True for replica in replicas}


def balance():
    """Checks each replica ten times a second, as a load balancer does."""
    while not over.is_set():
        for replica in replicas:
            ready[replica.http] = replica.ask("/readyz", port=replica.admin, timeout=1)[0] == 200
        time.sleep(0.1)


def work(number):
    for count in itertools.count():
        if over.is_set():
            return
        replica = next((one for one in (next(turn), next(turn)) if ready[one.http]), None)
        if replica is None:
            unserved["no replica ready"] += 1
            time.sleep(0.05)
            continue
        if number % 2:
            status, body = replica.ask(replica.probe_path())
            if status == 200 and not replica.is_right(body):
                status = f"200 with {body[:200]}"
        else:
            title = f"Rolling w{number}n{count}e"
            status, _ = replica.ask("/calendar/events/v1/events", "POST", {
                "title": title, "start_date": "+9 days 10:00", "end_date": "+9 days 11:00"})
            if status == 201:
                made.append(title)
        statuses[status] += 1
        time.sleep(0.01)


# Threads of a story that ends early do not keep it running.
threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(6)]
threads.append(threading.Thread(target=balance, daemon=True))
for thread in threads:
    thread.start()
time.sleep(1.5)
for replica in replicas:
    replica.stop()
    replica.start()
    time.sleep(1.5)
over.set()
for thread in threads:
    thread.join()
check(set(statuses) <= {200, 201}, f"through a rolling restart: {statuses}")
check(not unserved, f"no replica was ready: {unserved}")
check(len(made) > 20, f"only {len(made)} events were made")
for replica in replicas:
    for title in made[:: max(1, len(made) // 60)]:
        status, body = replica.ask("/calendar/events/v1/events?per_page=1&search=" + title.replace(" ", "+"))
        check(status == 200 and title.encode() in body, f"an acknowledged event is lost: {title}")
    status, body = replica.ask("/calendar/events/v1/events?per_page=1&search=Rolling&_fields=total")
    check(f'"total":{len(made)}'.encode() in body, f"{len(made)} events were made, and the list has {body}")
    replica.stop()
say(f"calendar: both replicas restarted under {statuses.total()} requests, none failed; all {len(made)} events are there")
