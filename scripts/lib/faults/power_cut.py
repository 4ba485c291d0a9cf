"""Power cuts: power_cut.py FOLDER LIBRARY         (the library is power_cut.c)

Builds a data folder from the synced bytes, as a disk would hold them, and starts the service on it. Acknowledged
writes and finished loads must be there.
"""

import pathlib
import shutil
import signal
import sys
import threading
import time

from services import Service, check, say

folder, library = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def under_watch(name):
    """A service whose syncs are recorded."""
    data, disk = folder / name / "data", folder / name / "disk"
    for part in (data, disk / "inodes", disk / "names"):
        part.mkdir(parents=True)
    return Service(name, data, preload=library, POWER_CUT_DATA=str(data), POWER_CUT_DISK=str(disk))


def cut(service):
    """Kills the service and returns a new one on the data that a disk would hold now."""
    service.process.send_signal(signal.SIGSTOP)
    disk, after = service.folder.parent / "disk", service.folder.parent / "after"
    for entry in (disk / "names").iterdir():
        path = after / entry.name.replace("%", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        content = disk / "inodes" / entry.read_text()
        shutil.copy(content, path) if content.exists() else path.touch()
    again = Service(service.name, after)
    again.headers = service.headers
    return again


def writes_of_the_calendar():
    service = under_watch("calendar").load_samples().start()
    made, over = [], threading.Event()

    def write(number):
        while not over.is_set():
            title = f"Cut w{number}n{len(made)}e"
            status, _ = service.ask("/calendar/events/v1/events", "POST", {
                "title": title, "start_date": "+9 days 10:00", "end_date": "+9 days 11:00"}, timeout=3)
            if status == 201:
                made.append(title)

    threads = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    acknowledged = list(made)
    again = cut(service)
    over.set()
    service.kill()
    for thread in threads:
        thread.join()
    again.start()
    lost = [title for title in acknowledged
            if title.encode() not in again.ask("/calendar/events/v1/events?per_page=1&search=" + title.replace(" ", "+"))[1]]
    check(len(acknowledged) > 10, f"only {len(acknowledged)} events were made")
    check(not lost, f"{len(lost)} of {len(acknowledged)} acknowledged events are lost: {lost[:3]}")
    check(again.probe() == 200, "the calendar does not serve after a power cut")
    again.stop()
    say(f"calendar: all {len(acknowledged)} acknowledged events are there")


def a_load(name, commands=()):
    service = under_watch(name).load_samples().start()
    for command in commands:
        service.key = service.run(*command, codes=(0, 3))
    again = cut(service)
    service.kill()
    again.start()
    check(again.probe() == 200, f"{name} does not serve after a power cut")
    if commands:
        status, body = again.ask("/api/v3/breachedaccount/vito_grove%40post.example", **{"breach-api-key": service.key})
        check(status == 200 and b"AlderwickBooks" in body, f"the load of {name} is lost: {status} {body}")
    again.stop()
    say(f"{name}: all loaded data are there")


writes_of_the_calendar()
a_load("buckets")
a_load("passwords")
a_load("breaches", [
    ["catalogue", "import", "samples/breaches/catalogue.json"],
    ["accounts", "load", "--breach", "AlderwickBooks", "samples/breaches/AlderwickBooks.txt"],
    ["subscriber", "add", "cut@example.com"],
    ["subscription", "set", "cut@example.com", "--plan", "pro1", "--until", "2099-12-31"],
    ["keys", "issue", "cut@example.com"],
])
