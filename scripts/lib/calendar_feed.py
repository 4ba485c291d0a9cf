"""Compares the feed of a calendar with its interface, using the parser icalendar.

Usage: calendar_feed.py BASE_URL
"""

import datetime
import json
import sys
import urllib.request

import icalendar

base = sys.argv[1]


def get(path):
    with urllib.request.urlopen(f"{base}/calendar/events/v1{path}") as answer:
        return answer.read()


def instant(value):
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    return value.strftime("%Y-%m-%d")


events, page = {}, 1
while True:
    answer = json.loads(get(f"/events?per_page=50&page={page}"))
    events.update({event["id"]: event for event in answer["events"]})
    if page >= answer["total_pages"]:
        break
    page += 1

raw = get("/ical?per_page=5000")
assert raw.endswith(b"END:VCALENDAR\r\n"), raw[-40:]
for line in raw[:-2].split(b"\r\n"):
    assert len(line) <= 75, line
    line.decode()  # no character is torn
calendar = icalendar.Calendar.from_ical(raw)
seen = 0
for entry in calendar.walk("VEVENT"):
    assert not entry.errors, entry.errors
    event = events[int(entry["UID"].split("@")[0])]
    seen += 1
    start, end = entry.decoded("DTSTART"), entry.decoded("DTEND")
    if event["all_day"]:
        assert instant(start) == event["start_date"][:10], (event["title"], start)
        assert instant(end - datetime.timedelta(days=1)) == event["end_date"][:10], (event["title"], end)
    else:
        assert instant(start) == event["utc_start_date"], (event["title"], start)
        assert instant(end) == event["utc_end_date"], (event["title"], end)
    if event["description"]:
        assert str(entry["DESCRIPTION"]), event["title"]
assert seen == len(events), (seen, len(events))
clocks = next(entry for entry in calendar.walk("VEVENT") if entry["SUMMARY"] == "Night of clocks")
assert str(clocks["LOCATION"]) == "Hall; of, clocks, Wien", clocks["LOCATION"]
assert clocks["ORGANIZER"].params["CN"] == "Ann 'A'", clocks["ORGANIZER"].params
assert "First; second, \\ third" in clocks["DESCRIPTION"], clocks["DESCRIPTION"]
names = sorted(str(name) for name in clocks["CATEGORIES"].cats)
assert names == ["Talks", "späť"], names
hidden = next(entry for entry in calendar.walk("VEVENT") if entry["SUMMARY"] == "Behind a password")
assert "DESCRIPTION" not in hidden
# The file's own time zones agree with those of this machine.
for zone in calendar.walk("VTIMEZONE"):
    zone.to_tz()
print(f"{seen} events agree")
