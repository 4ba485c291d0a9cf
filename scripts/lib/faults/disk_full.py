"""The disk is full while something is loaded or written: disk_full.py FOLDER [SERVICE...]      (root: a small tmpfs is mounted)

The load ends with a sentence, what was there before is served on, and once there is room the same load succeeds.
"""

import json
import pathlib
import subprocess
import sys

from services import Service, check, say

folder = pathlib.Path(sys.argv[1])


def events(path):
    with open(path, "w") as file:
        for number in range(500):
            file.write(json.dumps({"type": "event", "title": f"Disk {number}", "description": "long " * 4000,
                                   "start_date": "+9 days 10:00", "end_date": "+9 days 11:00"}) + "\n")


def files(path):
    with open(path, "w") as file:
        for number in range(60000):
            file.write(json.dumps({"bucket": f"full-{number % 50}.s3.amazonaws.com", "size": number,
                                   "fullPath": f"disk/{number * 7919 % 999983:x}/{number * 104729:x}-report.tar.gz"}) + "\n")


def addresses(path):
    with open(path, "w") as file:
        file.writelines(f"{number * 2654435761 % 2**32:x}@{number % 977}.disk.example\n" for number in range(300000))


def passwords(path):
    with open(path, "w") as file:
        file.writelines(f"disk-{number}\n" for number in range(120000))


STORIES = {
    # name: size of the disk in MiB, what makes the input, the command
    "buckets": (6, files, ["load"]),
    "breaches": (6, addresses, ["accounts", "load", "--breach", "Acmegram"]),
    "passwords": (24, passwords, ["build", "--input-format", "plaintext", "--kind", "sha1", "--activate"]),
    "calendar": (8, events, ["load"]),
}

for name in sys.argv[2:] or STORIES:
    size, write, command = STORIES[name]
    disk = folder / name
    disk.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "quintet-faults", disk], check=True)
    try:
        service = Service(name, disk / "data", SORT_TMP=str(disk), LOAD_TMP=str(disk)).load_samples().start()
        check(service.probe() == 200, f"{name} does not serve before")
        source = folder / f"{name}-input{'.ndjson' if write in (events, files) else '.txt'}"
        write(source)
        service.run(*command, source, codes=(1,))
        last = service.said.strip().splitlines()[-1]
        check(service.probe() == 200, f"{name} does not serve on a full disk")
        if name == "calendar":
            # Until a write fits: each is either made or refused with a status that the document has.
            seen = {service.ask("/calendar/events/v1/events", "POST", {
                "title": "Full", "description": "long " * 6000, "start_date": "+9 days 10:00", "end_date": "+9 days 11:00"})[0]
                for _ in range(200)}
            check(seen <= {201, 500, 503} and seen != {201}, f"writes on a full disk: {seen}")
        check(service.ask("/readyz", port=service.admin)[0] == 200, f"{name} is not ready on a full disk")
        subprocess.run(["mount", "-o", f"remount,size={size + 400}m", disk], check=True)
        service.run(*command, source)
        check(service.probe() == 200, f"{name} does not serve after the second load")
        service.stop()
        say(f"{name}: {last[:140]}")
    finally:
        subprocess.run(["umount", "--lazy", disk])
