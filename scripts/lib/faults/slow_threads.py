"""Threads exit after the process has begun to exit: slow_threads.py FOLDER LIBRARY
(the library is slow_threads.c)
"""

import pathlib
import sys

from services import NAMES, Service, check, say

folder, library = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
for name in NAMES:
    service = Service(name, folder / name, DRAIN_SECONDS="0").load_samples()
    service.preload = library
    service.start()
    check(service.probe() == 200, f"{name} does not serve")
    service.stop()
say("all five: threads that end late change nothing about a stop")
