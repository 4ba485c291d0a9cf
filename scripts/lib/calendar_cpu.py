#!/usr/bin/env python3
"""Measures the CPU time of the calendar per request, as a multiple of that of /healthz.

Usage: calendar_cpu.py BASE_URL PID EVENT_ID SEARCH

Requests are sent one after another on one connection. The CPU time is that of all threads of the server,
in nanoseconds from /proc/PID/task/*/schedstat.
"""

import http.client
import os
import sys
import time
from urllib.parse import urlsplit

API = "/calendar/events/v1"
# CPU time in seconds after which a case has been measured, and the most requests.
ENOUGH, MOST, LEAST = 0.4, 20_000, 200


def cases(event, search):
    """Returns name, path, request headers, and whether the client knows the answer."""
    gzip = {"Accept-Encoding": "gzip"}
    return [
        ("plain", "/healthz", {}, False),
        ("event", f"{API}/events/{event}", {}, False),
        ("list of ten", f"{API}/events", {}, False),
        ("list of fifty", f"{API}/events?per_page=50", {}, False),
        ("list of fifty, gzip", f"{API}/events?per_page=50", gzip, False),
        ("categories", f"{API}/categories", {}, False),
        ("search of a common word", f"{API}/events?search={search}", {}, False),
        ("list page", "/events/", {}, False),
        ("list page, gzip", "/events/", gzip, False),
        ("month page", "/events/month/", {}, False),
        ("feed of a day", "/events/?ical=1&date=" + time.strftime("%Y-%m-%d", time.gmtime()), {}, False),
        ("event, 304", f"{API}/events/{event}", {}, True),
        ("month page, 304", "/events/month/", {}, True),
        ("feed, 304", "/events/?ical=1", {}, True),
    ]


def cpu(pid):
    """Returns the CPU time of all threads in nanoseconds."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:
            pass
    return total


def get(connection, path, headers):
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    return answer, body


def measure(connection, pid, path, headers, known):
    """Returns status, bytes of the body, and CPU nanoseconds per request."""
    answer, _ = get(connection, path, headers)
    if known:
        headers = {**headers, "If-None-Match": answer.getheader("ETag")}
    for _ in range(5):
        answer, body = get(connection, path, headers)
    begun, count = cpu(pid), 0
    while count < MOST and (count < LEAST or cpu(pid) - begun < ENOUGH * 1e9):
        for _ in range(LEAST // 2):
            get(connection, path, headers)
        count += LEAST // 2
    return answer.status, len(body), (cpu(pid) - begun) / count


def main():
    base, pid, event, search = sys.argv[1:]
    connection = http.client.HTTPConnection(urlsplit(base).netloc)
    print("| Case | Status | Body | CPU a request | to plain |")
    print("|---|---|---|---|---|")
    plain = None
    for name, path, headers, known in cases(event, search):
        status, length, nanoseconds = measure(connection, pid, path, headers, known)
        plain = plain or nanoseconds
        micros, ratio = nanoseconds / 1000, nanoseconds / plain
        print(f"| {name} | {status} | {length} bytes | {micros:.1f} µs | {ratio:.1f} |", flush=True)


if __name__ == "__main__":
    main()
