"""The clock of the machine jumps under a running service: clock.py FOLDER LIBFAKETIME

Jumps a month forward, two months back, and returns. Responses and health checks stay correct, and an exhausted quota
refills without waiting for the clock to catch up.
"""

import pathlib
import sys
import time

from services import NAMES, Load, Service, check, say

folder, library = pathlib.Path(sys.argv[1]), sys.argv[2]
for name in NAMES:
    clock = folder / f"clock-{name}"
    clock.write_text("+0")
    service = Service(name, folder / name)
    if name == "generator":
        service.settings |= {"ANONYMOUS_RPM": "60", "ANONYMOUS_BURST": "2"}
    service.load_samples()
    service.preload = library
    service.settings |= {"FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    service.start()
    with Load(service, threads=2, pause=0.02) as load:
        for jump in ["+30d", "-30d", "+0"]:
            if name == "generator":
                # Without a key; uses up the burst of two right before the jump.
                asked = [service.ask("/api/Card?type=Visa", **{"x-api-key": ""})[0] for _ in range(4)]
                check(429 in asked, f"the anonymous quota was not used up: {asked}")
            clock.write_text(jump)
            time.sleep(1.5)
            check(service.ask("/readyz", port=service.admin)[0] == 200, f"{name} is not ready after a jump of {jump}")
            if name == "generator":
                status, _ = service.ask("/api/Card?type=Visa", **{"x-api-key": ""})
                check(status == 200, f"after a jump of {jump} an anonymous client gets {status}")
    check(set(load.statuses) <= {200}, f"{name} under jumps of the clock: {load.counted()}")
    say(f"{name}: three jumps of the clock, {load.counted()}")
    service.stop()
