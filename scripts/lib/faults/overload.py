"""Far more clients than a service can serve: overload.py FOLDER

One thread, 64 connections, and ten times as many clients that send requests without a pause. Memory stays bounded,
health and metrics answer, every answer is right or a documented refusal, and the first request afterwards is served.
"""

import asyncio
import pathlib
import sys
import time
from collections import Counter

from services import NAMES, Service, check, say

folder = pathlib.Path(sys.argv[1])
CLIENTS, CONNECTIONS, SECONDS = 640, 64, 4
ALLOWED = {200, 429, 503}


async def client(service, until, statuses):
    lines = "".join(f"{name}: {value}\r\n" for name, value in service.headers.items())
    request = f"GET {service.probe_path()} HTTP/1.1\r\nhost: localhost\r\n{lines}\r\n".encode()
    writer = None
    while time.monotonic() < until:
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", service.http)
            writer.write(request)
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + until - time.monotonic() + 1):
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split()[0])
                body = await reader.readexactly(length)
            status = int(head.split()[1])
            if status == 200 and not service.is_right(body):
                status = -1
            statuses[status] += 1
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            # A client that is still queued at the end gets no response.
            writer and writer.close()
            writer = None
    writer and writer.close()


async def watch(service, until, seen):
    while time.monotonic() < until:
        begun = time.monotonic()
        for path in ["/healthz", "/metrics"]:
            status, _ = await asyncio.to_thread(service.ask, path, port=service.admin)
            check(status == 200, f"{service.name}{path} of the admin port under overload: {status}")
        seen["slowest"] = max(seen["slowest"], time.monotonic() - begun)
        seen["memory"] = max(seen["memory"], service.memory())
        await asyncio.sleep(0.1)


async def storm(service, statuses, seen):
    until = time.monotonic() + SECONDS
    await asyncio.gather(watch(service, until, seen), *(client(service, until, statuses) for _ in range(CLIENTS)))


for name in NAMES:
    service = Service(name, folder / name, WORKERS="1", MAX_CONNECTIONS=str(CONNECTIONS),
                      MAX_CONNECTIONS_PER_ADDRESS=str(CONNECTIONS)).load_samples().start()
    check(service.probe() == 200, f"{name} does not serve")
    before, statuses, seen = service.memory(), Counter(), {"slowest": 0.0, "memory": 0.0}
    asyncio.run(storm(service, statuses, seen))
    begun = time.monotonic()
    while (status := service.probe()) not in (200, 429):
        check(time.monotonic() < begun + 5, f"{name} answers {status} after an overload")
    after = time.monotonic() - begun
    check(set(statuses) <= ALLOWED and statuses.total() > CLIENTS / 10, f"{name} under overload: {statuses}")
    check(seen["memory"] < before + 128, f"{name} took {seen['memory']:.0f} MiB under overload, {before:.0f} before")
    check(seen["slowest"] < 5, f"{name}: the admin port took {seen['slowest']:.1f} s")
    say(f"{name}: {CLIENTS} clients, {', '.join(f'{count} times {status}' for status, count in sorted(statuses.items()))}; "
        f"{before:.0f} MiB before, {seen['memory']:.0f} at most; admin port {seen['slowest'] * 1000:.0f} ms at most; "
        f"served {after * 1000:.0f} ms after")
    service.stop()
