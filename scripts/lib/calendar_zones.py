"""Checks that other parsers read the time zones of a feed like the API, from 1995 to 2037.

Usage: calendar_zones.py make >EVENTS      writes lines for `calendar load`
       calendar_zones.py judge BASE FOLDER compares icalendar and vobject, and writes FOLDER/feed.ics,
                                           FOLDER/renamed.ics and FOLDER/expected.json for calendar_zones.mjs

In the renamed feed the zones have names that no parser knows, so their rules come from the file.
"""

import datetime
import json
import random
import re
import sys
import urllib.request

ZONES = """Africa/Cairo Africa/Casablanca Africa/Johannesburg America/Asuncion America/Caracas
America/Chicago America/Havana America/Los_Angeles America/New_York America/Nuuk America/Santiago
America/Sao_Paulo America/St_Johns Antarctica/Troll Asia/Amman Asia/Beirut Asia/Gaza Asia/Jerusalem
Asia/Kathmandu Asia/Kolkata Asia/Shanghai Asia/Tehran Asia/Tokyo Atlantic/Azores Australia/Adelaide
Australia/Lord_Howe Australia/Sydney Europe/Dublin Europe/Istanbul Europe/Lisbon Europe/London
Europe/Moscow Europe/Vienna Pacific/Apia Pacific/Auckland Pacific/Chatham""".split()
EACH = 40


def make():
    choose = random.Random(34)
    for zone in ZONES:
        for number in range(EACH):
            start = datetime.datetime(1995, 1, 2) + datetime.timedelta(
                minutes=choose.randrange(43 * 365 * 24 * 60 - 5 * 24 * 60)
            )
            line = {
                "type": "event",
                "title": f"{zone} {number}",
                "timezone": zone,
                "start_date": start.strftime("%Y-%m-%d %H:%M:00"),
                "end_date": (start + datetime.timedelta(hours=3)).strftime("%Y-%m-%d %H:%M:00"),
                "external_id": f"{zone}-{number}",
            }
            print(json.dumps(line))


def get(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


def judge(base, folder):
    import icalendar
    import vobject

    api = f"{base}/calendar/events/v1"
    span = "start_date=1994-01-01&end_date=2039-01-01"
    expected, page, pages = {}, 1, 1
    while page <= pages:
        answer = json.loads(get(f"{api}/events?{span}&per_page=50&page={page}"))
        pages = answer["total_pages"]
        expected.update({e["title"]: [e["utc_start_date"], e["utc_end_date"]] for e in answer["events"]})
        page += 1
    feed = get(f"{api}/ical?{span}&per_page=5000")
    renamed = re.sub(r"^((?:DTSTART|DTEND);TZID=|TZID:)", r"\1File ", feed, flags=re.M)
    for name, text in ("feed.ics", feed), ("renamed.ics", renamed), ("expected.json", json.dumps(expected)):
        with open(f"{folder}/{name}", "w", newline="") as file:
            file.write(text)

    def utc(value):
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")

    def compare(parser, found):
        wrong = [title for title, times in expected.items() if found.get(title) != times]
        for title in wrong[:5]:
            print(f"{parser}: {title} is {found.get(title)} instead of {expected[title]}")
        print(f"{parser}: {len(expected) - len(wrong)} of {len(expected)} events agree")
        return len(wrong)

    events = icalendar.Calendar.from_ical(renamed).walk("VEVENT")
    read = {str(e["SUMMARY"]): [utc(e.decoded("DTSTART")), utc(e.decoded("DTEND"))] for e in events}
    wrong = compare("icalendar", read)
    events = vobject.readOne(renamed).vevent_list
    read = {e.summary.value: [utc(e.dtstart.value), utc(e.dtend.value)] for e in events}
    wrong += compare("vobject", read)
    sys.exit(wrong != 0)


if sys.argv[1] == "make":
    make()
else:
    judge(*sys.argv[2:])
