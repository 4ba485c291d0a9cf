"""Compares the events of series with dateutil, and with what recurring-ical-events reads in the feed.

Usage: calendar_series.py make >EVENTS    writes lines for `calendar load`
       calendar_series.py judge BASE NOW  compares the responses of a calendar that loaded them, at this time

The series have starts around the changes of the clock in 17 zones. Local times that are skipped move
forward, and of repeated ones the first counts. recurring-ical-events shortens events whose start is
skipped, so that only their starts are compared. It also excludes a second occurrence of a day whose
local time is the UTC time of an excluded one, so that it does not judge rules with several a day.
"""

import datetime
import json
import sys
import urllib.request
import zoneinfo

ZONES = """Africa/Cairo Africa/Johannesburg America/Los_Angeles America/New_York America/Santiago
America/St_Johns Asia/Beirut Asia/Jerusalem Asia/Kathmandu Asia/Tokyo Atlantic/Azores
Australia/Lord_Howe Australia/Sydney Europe/London Europe/Vienna Pacific/Auckland
Pacific/Chatham""".split()
RULES = """FREQ=DAILY;COUNT=500
FREQ=DAILY;INTERVAL=3
FREQ=DAILY;BYDAY=SA,SU,MO
FREQ=DAILY;BYHOUR=0,1,2,3;BYDAY=SU
FREQ=WEEKLY
FREQ=WEEKLY;BYDAY=FR,SA,SU;WKST=SU;INTERVAL=2
FREQ=WEEKLY;BYDAY=SU;COUNT=70
FREQ=MONTHLY;BYDAY=-1SU
FREQ=MONTHLY;BYMONTHDAY=1,-1
FREQ=MONTHLY;BYDAY=SU;BYSETPOS=1,-1
FREQ=YEARLY;BYMONTH=3,4,9,10,11;BYDAY=1SU,2SU,-1SU
FREQ=YEARLY;BYMONTH=3,10;BYDAY=SU;BYMONTHDAY=25,26,27,28,29,30,31
FREQ=YEARLY;BYWEEKNO=10,13,43,44;BYDAY=SU
FREQ=HOURLY;INTERVAL=9;UNTIL
FREQ=MINUTELY;INTERVAL=450;BYDAY=SA,SU;UNTIL""".split()
TIMES = ["00:00", "00:30", "01:30", "02:30", "03:15", "12:00", "23:45"]
LENGTHS = [45, 180, 600]
FIRST = datetime.datetime(2027, 3, 1)
FORM = "%Y-%m-%d %H:%M:%S"
UTC = datetime.timezone.utc


def utc(wall, zone):
    return wall.replace(tzinfo=zone).astimezone(UTC)


def exists(wall, zone):
    return utc(wall, zone).astimezone(zone).replace(tzinfo=None) == wall


def series():
    """Yields title, zone, start, rule, end, excluded and added dates, and length in minutes."""
    from dateutil.rrule import rrulestr

    number = 0
    for name in ZONES:
        zone = zoneinfo.ZoneInfo(name)
        for rule in RULES:
            number += 1
            hour, minute = map(int, TIMES[number % len(TIMES)].split(":"))
            begin = FIRST.replace(hour=hour, minute=minute) + datetime.timedelta(days=number % 23)
            until = None
            plain = rule.removesuffix(";UNTIL")
            # The start must match the rule.
            found = rrulestr(plain.split(";COUNT")[0], dtstart=begin)
            start = next(at for at in found if exists(at, zone))
            if plain != rule:
                until = start + datetime.timedelta(days=60, hours=number % 24)
            elif number % 4 == 0 and "COUNT" not in rule:
                until = datetime.datetime(2028, 10, 31, hour, minute)
            ends = until and {"until": until.strftime(FORM)}
            all_dates = [at for _, at in zip(range(12), rrulestr(plain, dtstart=start))]
            excluded = [at for at in all_dates[3::4] if exists(at, zone)]
            added = [start + datetime.timedelta(days=17, hours=3, minutes=7)] if number % 3 == 0 else []
            length = LENGTHS[number % len(LENGTHS)]
            yield f"{name} {rule}", name, start, plain, ends or {}, excluded, added, length


def make():
    for title, zone, start, rule, ends, excluded, added, length in series():
        end = start + datetime.timedelta(minutes=length)
        listed = {
            "exdates": [at.strftime(FORM) for at in excluded],
            "rdates": [at.strftime(FORM) for at in added],
        }
        line = {
            "type": "event",
            "title": title,
            "timezone": zone,
            "start_date": start.strftime(FORM),
            "end_date": end.strftime(FORM),
            "external_id": title,
            "recurrence": {"rrule": rule, **ends, **listed},
        }
        print(json.dumps(line))


def get(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


def answered(base):
    """Returns the starts and ends of all events in UTC, by title."""
    found, page, pages = {}, 1, 1
    span = "start_date=2027-01-01&end_date=2040-01-01&_fields=events.title,events.utc_start_date,"
    span += "events.utc_end_date,total_pages"
    while page <= pages:
        answer = json.loads(get(f"{base}/calendar/events/v1/events?{span}&per_page=1000&page={page}"))
        pages = answer["total_pages"]
        for event in answer["events"]:
            times = (event["utc_start_date"], event["utc_end_date"])
            found.setdefault(event["title"], []).append(times)
        page += 1
    return {title: sorted(times) for title, times in found.items()}


def by_dateutil(horizon):
    """Returns the starts in UTC, by title."""
    from dateutil.rrule import rrulestr

    found = {}
    for title, name, start, rule, ends, excluded, added, _ in series():
        zone = zoneinfo.ZoneInfo(name)
        until = datetime.datetime.strptime(ends["until"], FORM) if ends else None
        last = horizon.astimezone(zone).replace(tzinfo=None)
        starts = set()
        for at in rrulestr(rule, dtstart=start):
            if at > last or (until and utc(at, zone) > utc(until, zone)):
                break
            starts.add(utc(at, zone))
        starts |= {utc(at, zone) for at in added}
        starts -= {utc(at, zone) for at in excluded}
        found[title] = sorted(at.strftime(FORM) for at in starts)
    return found


def is_daily(title):
    return not any(word in title for word in ("BYHOUR", "HOURLY", "MINUTELY"))


def is_skipped(title, start):
    """Whether the local time of a start may come from a skipped one."""
    zone = zoneinfo.ZoneInfo(title.split(" ")[0])
    at = datetime.datetime.strptime(start, FORM).replace(tzinfo=UTC)
    before = at - datetime.timedelta(hours=1)
    return before.astimezone(zone).utcoffset() < at.astimezone(zone).utcoffset()


def comparable(events):
    """Leaves out dates that recurring-ical-events reads differently."""
    return {
        title: [(start, None if is_skipped(title, start) else end) for start, end in times]
        for title, times in events.items()
        if is_daily(title)
    }


def in_feed(base, horizon):
    """Returns the starts and ends that recurring-ical-events finds in the feed, by title."""
    import icalendar
    import recurring_ical_events

    # A feed of certain dates has single events instead of rules.
    text = get(f"{base}/calendar/events/v1/ical")
    if text.count("BEGIN:VEVENT") != len(ZONES) * len(RULES):
        sys.exit(f"the feed has {text.count('BEGIN:VEVENT')} entries")
    found = {}
    events = recurring_ical_events.of(icalendar.Calendar.from_ical(text))
    for event in events.between(datetime.datetime(2027, 1, 1), horizon + datetime.timedelta(days=2)):
        start, end = event["DTSTART"].dt.astimezone(UTC), event["DTEND"].dt.astimezone(UTC)
        zone = zoneinfo.ZoneInfo(str(event["SUMMARY"]).split(" ")[0])
        last = horizon.astimezone(zone).replace(tzinfo=None)
        if start.astimezone(zone).replace(tzinfo=None) <= last:
            times = (start.strftime(FORM), end.strftime(FORM))
            found.setdefault(str(event["SUMMARY"]), set()).add(times)
    return {title: sorted(times) for title, times in found.items()}


def compare(name, expected, found):
    wrong = 0
    for title in sorted(expected):
        one, other = set(expected[title]), set(found.get(title, ()))
        if one == other:
            continue
        wrong += 1
        if wrong <= 10:
            print(f"{title}: only {name} {sorted(one - other)[:3]}, only the interface {sorted(other - one)[:3]}")
    dates = sum(len(times) for times in expected.values())
    print(f"{name}: {len(expected) - wrong} of {len(expected)} series agree, with {dates} dates")
    return wrong


def judge(base, now):
    horizon = datetime.datetime.fromisoformat(now).astimezone(UTC)
    horizon = horizon.replace(year=horizon.year + 2)
    events = answered(base)
    starts = {title: [start for start, _ in times] for title, times in events.items()}
    wrong = compare("dateutil", by_dateutil(horizon), starts)
    read = comparable(in_feed(base, horizon))
    wrong += compare("recurring-ical-events", read, comparable(events))
    sys.exit(wrong != 0)


if sys.argv[1] == "make":
    make()
else:
    judge(*sys.argv[2:])
