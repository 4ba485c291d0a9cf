#!/usr/bin/env python3
"""Measures the CPU time of the calendar per request, as a multiple of that of /healthz.

Usage: calendar_cpu.py BASE_URL PID EVENT_ID SEARCH. Prints a line for each case: name, tab, figures.

Requests are sent in sequence on one connection. The cases take short turns, so that other work on the machine
affects all of them alike, and the figures are the medians of the turns. The CPU time is that of all threads of
the server, in nanoseconds from /proc/PID/task/*/schedstat.
"""

import http.client
import os
import statistics
import sys
import time
from urllib.parse import urlsplit

API = "/calendar/events/v1"
ROUNDS = 60
# CPU nanoseconds of a turn, and the bounds of its number of requests.
TURN, MOST, LEAST = 5e6, 40, 2


def cases(event, search):
    """Returns name, path, request headers, and whether the client has the response already."""
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


class Case:
    """A request that is measured in many short turns."""

    def __init__(self, connection, name, path, headers, known):
        self.connection, self.name, self.path, self.headers = connection, name, path, headers
        answer, _ = self.get()
        if known:
            self.headers = {**headers, "If-None-Match": answer.getheader("ETag")}
        for _ in range(100):
            answer, body = self.get()
        self.status, self.length, self.turns, self.count = answer.status, len(body), [], MOST

    def get(self):
        return get(self.connection, self.path, self.headers)

    def turn(self, pid):
        # The first request after another case is dearer.
        self.get()
        begun = cpu(pid)
        for _ in range(self.count):
            self.get()
        nanoseconds = (cpu(pid) - begun) / self.count
        self.turns.append(nanoseconds)
        self.count = max(LEAST, min(MOST, int(TURN / nanoseconds)))


def main():
    base, pid, event, search = sys.argv[1:]
    connection = http.client.HTTPConnection(urlsplit(base).netloc)
    measured = [Case(connection, *case) for case in cases(event, search)]
    for _ in range(ROUNDS):
        for case in measured:
            case.turn(pid)
    plain = statistics.median(measured[0].turns)
    for case in measured:
        nanoseconds = statistics.median(case.turns)
        micros, ratio = nanoseconds / 1000, nanoseconds / plain
        text = f"{micros:.1f} µs, {ratio:.1f} times plain, status {case.status}, {case.length} bytes"
        print(case.name, text, sep="\t")


if __name__ == "__main__":
    main()
