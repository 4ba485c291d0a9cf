"""The disk is full while something is loaded or written: disk_full.py FOLDER [SERVICE...]      (root: a small tmpfs is mounted)

The load fails with a message. Existing data are served, also by servers that start on the full disk or on a
read-only one. /readyz names the cause, writes get 503, and once there is space, the same load succeeds.
"""

import contextlib
import http.client
import json
import pathlib
import shutil
import subprocess
import sys
import time

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


DATABASES = ("breaches", "buckets", "calendar")


def fill(disk):
    """Fills a disk completely."""
    with open(disk / "filler", "ab", buffering=0) as filler:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while filler.write(bytes(size)):
                    pass
            except OSError:
                pass


def reads_without_writes(service, what, disk):
    """Checks that the service serves reads, rejects writes with 503, and reports why it is not ready."""
    check(service.probe() == 200, f"{service.name} does not serve on a {what} disk")
    if service.name not in DATABASES:
        return
    for _ in range(20):
        # Maintenance may have released the space of the write-ahead log.
        with contextlib.suppress(OSError):
            fill(disk)
        if service.ask("/readyz", port=service.admin)[0] == 503:
            break
        time.sleep(1)
    service.await_status("/readyz", 503, 1)
    _, reason = service.ask("/readyz", port=service.admin)
    check(what.encode() in reason, f"{service.name} on a {what} disk: {reason}")
    if service.name == "calendar":
        # The write-ahead log has some reserve, so each write is either stored or refused.
        for _ in range(600):
            status, body = service.ask("/calendar/events/v1/events", "POST", {
                "title": "Full", "description": "long " * 6000, "start_date": "+9 days 10:00", "end_date": "+9 days 11:00"})
            if status != 201:
                break
        check(status == 503 and b"rest_unavailable" in body, f"a write on a {what} disk: {status} {body[:300]}")
        check(b"storage failed" in pathlib.Path(service.log.name).read_bytes(), "the cause is not in the log")
        # A GIF of 3 x 2 points.
        link = http.client.HTTPConnection("127.0.0.1", service.http, timeout=10)
        picture = b"GIF89a\x03\0\x02\0\0\0\0\x2c\0\0\0\0\x03\0\x02\0\0\x02\x02ab\0;"
        link.request("POST", "/calendar/events/v1/images", picture, {**service.headers, "content-type": "image/gif"})
        status = link.getresponse().status
        link.close()
        check(status == 503, f"an upload on a {what} disk: {status}")


def rebuild_on_full_disk(service, disk, size):
    """A rebuild writes a second index. When the disk fills, the first one is left unchanged and served."""
    before = service.run("status", "--json")
    used = shutil.disk_usage(disk).used >> 20
    subprocess.run(["mount", "-o", f"remount,size={used + 3}m", disk], check=True)
    service.run("rebuild", codes=(1,))
    check("No space left" in service.said, f"the rebuild does not name its cause: {service.said}")
    service.run("verify")
    check(service.probe() == 200, "buckets does not serve after a rebuild on a full disk")
    check(service.run("status", "--json") == before, "a rebuild that failed changed the index")
    subprocess.run(["mount", "-o", f"remount,size={size}m", disk], check=True)
    service.run("rebuild")
    service.run("verify")
    check(service.probe() == 200, "buckets does not serve after a rebuild")


STORIES = {
    # name: size of the disk in MiB, function that creates the input, command
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
        service = Service(name, disk / "data", logs=folder, SORT_TMP=str(disk), LOAD_TMP=str(disk)).load_samples().start()
        check(service.probe() == 200, f"{name} does not serve before")
        source = folder / f"{name}-input{'.ndjson' if write in (events, files) else '.txt'}"
        write(source)
        service.run(*command, source, codes=(1,))
        last = service.said.strip().splitlines()[-1]
        check(service.probe() == 200, f"{name} does not serve on a full disk")
        fill(disk)
        reads_without_writes(service, "full", disk)
        service.stop()
        service.start(until="/healthz")
        # The start released the space of the write-ahead log.
        fill(disk)
        reads_without_writes(service, "full", disk)
        if name in DATABASES:
            service.stop()
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            service.start(until="/healthz")
            reads_without_writes(service, "read-only", disk)
            # Files opened read-only stay read-only.
            service.stop()
            subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
            service.start(until="/healthz")
        (disk / "filler").unlink()
        subprocess.run(["mount", "-o", f"remount,size={size + 400}m", disk], check=True)
        service.await_status("/readyz", 200, 20)
        service.run(*command, source)
        check(service.probe() == 200, f"{name} does not serve after the second load")
        if name == "buckets":
            rebuild_on_full_disk(service, disk, size + 400)
        service.stop()
        say(f"{name}: {last[:140]}")
    finally:
        subprocess.run(["umount", "--lazy", disk])
