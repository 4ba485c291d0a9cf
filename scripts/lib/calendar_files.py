"""Checks that imported calendar files have the occurrences that an independent library finds.

Usage: calendar_files.py CALENDAR WORK FOLDER...

Each file below the folders is imported by the program CALENDAR into a calendar of its own below WORK, and
its events are compared with those of recurring-ical-events: starts, ends and titles. Files that
recurring-ical-events cannot read or that have no events are not judged. Where it reads a file against
RFC 5545, MEANINGS changes the text that it reads. Exits with 1 if a file differs that is not in KNOWN.
"""

import concurrent.futures
import datetime
import html
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import icalendar
import recurring_ical_events

UTC = datetime.timezone.utc
# As in the program: occurrences of a series, and months ahead.
MOST, MONTHS = 500, 24

# Changes to a file before recurring-ical-events reads it, by the end of its path: a pattern, its replacement,
# and why the changed text means what the file means. The whole file is still compared.
DAY_OF_UNTIL = (
    rb"(UNTIL=\d{8})(?=[;\r\n])",
    rb"\1T235959Z",
    "3.3.10: UNTIL is inclusive, so a day includes its times; vobject gives 28 December 2006 in its own test",
)
LOTUS_ZONE = (
    b"Western/Central Europe",
    b"Europe/Berlin",
    "3.2.19: a zone of Lotus Notes; recurring-ical-events knows it only after a file that defines it",
)
MEANINGS = {
    "/issue_526_calendar_with_different_events.ics": LOTUS_ZONE,
    "/issue_526_calendar_with_event_subset.ics": LOTUS_ZONE,
    "/issue_526_calendar_with_events.ics": LOTUS_ZONE,
    "/issue_526_calendar_with_shuffeled_events.ics": LOTUS_ZONE,
    "/issue_75_range_parameter.ics": DAY_OF_UNTIL,
    "/test_files/recurrence.ics": DAY_OF_UNTIL,
    "/test14.ics": (
        rb"X-WR-TIMEZONE[^\r\n]*\r?\n",
        b"",
        "3.8.5.3: a series in UTC repeats in UTC; X-WR-TIMEZONE is not part of RFC 5545",
    ),
}

# Files that this program reads differently on purpose, by the end of their path, with the reason and the
# section of RFC 5545; see the table in services/calendar/README.md.
SAME_UID = "3.8.4.7: a UID is unique; of entries with the same start, the later one is imported"
KNOWN = {
    "/ical_input.ics": SAME_UID,
    "/test3.ics": SAME_UID,
    "/tutorials/example.ics": "3.8.4.7: a UID is unique; entries with other starts are both imported",
    "/issue_201_mixed_datetime_and_date.ics": "3.6.1: DTSTART is a day, and DTEND is midnight; the event is all-day",
    "/issue_117_until_before_dtstart.ics": "3.8.5.3: DTSTART is part of its series, even if UNTIL is before it",
    "/issue_156_RDATE_with_PERIOD_TZID_khal.ics": "3.8.4.4: dates of a RANGE override without UID are imported",
}

# A TZID of a day, which has no meaning (3.2.19) but makes recurring-ical-events return a time.
ZONE_OF_DAY = re.compile(rb';TZID=(?:"[^"\r\n]*"|[^;:\r\n]*)(?=(?:;[^:\r\n]*)?:\d{8}\r?$)', re.MULTILINE)


def key(start, end, title):
    """Returns days as dates, with the day after the last one, and times as instants in UTC."""

    if not isinstance(end, datetime.datetime) and end <= start:
        end = start + datetime.timedelta(days=1)

    def plain(moment):
        if not isinstance(moment, datetime.datetime):
            return moment.isoformat()
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S")

    # Programs differ in spaces and in backslashes that escape nothing.
    title = "".join(html.unescape(title).replace("\\", "").split())
    return plain(start), plain(end), title or "Untitled"


def expected(path, until):
    with open(path, "rb") as file:
        text = file.read()
    # Lines that end with a bare carriage return.
    if re.match(rb"[^\r\n]*\r(?!\n)", text):
        text = text.replace(b"\r", b"\n")
    text = ZONE_OF_DAY.sub(b"", text)
    for end, (pattern, replacement, _) in MEANINGS.items():
        if path.endswith(end):
            text = re.sub(pattern, replacement, text)
    calendars = icalendar.Calendar.from_ical(text, multiple=True)
    found = set()
    for calendar in calendars:
        query = recurring_ical_events.of(calendar, skip_bad_series=False)
        for event in query.between(datetime.datetime(1601, 1, 1, tzinfo=UTC), until):
            found.add(key(event.start, event.end, str(event.get("SUMMARY", ""))))
    return found


def imported(program, data, path):
    run = subprocess.run(
        [program, "--data-dir", data, "import", path, "--json"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "LOG_LEVEL": "error"},
    )
    if not run.stdout:
        return run.stderr.strip().splitlines()[-1:], None
    report = json.loads(run.stdout)
    database = sqlite3.connect(f"file:{data}/calendar.db?mode=ro", uri=True)
    found = set()
    columns = "start_utc, end_utc, start_local, end_local, all_day, title"
    rows = database.execute(f"SELECT {columns} FROM events WHERE status <> 'trash'").fetchall()
    epoch = datetime.datetime(1970, 1, 1, tzinfo=UTC)

    def at(seconds):
        return epoch + datetime.timedelta(seconds=seconds)

    for start_utc, end_utc, start, end, all_day, title in rows:
        if all_day:
            first, last = at(start).date(), at(end).date() + datetime.timedelta(days=1)
            found.add(key(first, last, title))
        else:
            found.add(key(at(start_utc), at(end_utc), title))
    database.close()
    return report, found


def judge(program, work, blank, number, path):
    now = datetime.datetime.now(UTC)
    until = now.replace(year=now.year + MONTHS // 12)
    try:
        wanted = expected(path, until)
    except Exception as error:
        return path, "unjudged", f"{type(error).__name__}: {error}"[:200]
    data = os.path.join(work, str(number))
    shutil.copytree(blank, data)
    report, found = imported(program, data, path)
    shutil.rmtree(data)
    if not wanted and not found:
        return path, "unjudged", "no events"
    if found is None:
        return path, "differs", f"not imported: {report}"
    found = {one for one in found if one[0] < until.strftime("%Y-%m-%dT%H:%M:%S")}
    warnings = [f"{one['line']} {one['message']}" for one in report["warnings"]]
    # Past occurrences of a long series are omitted, with a warning.
    is_long = any(f"more than {MOST} occurrences" in warning for warning in warnings)
    present = now.date().isoformat()
    latest = {}
    for start, _, title in found:
        latest[title] = max(start, latest.get(title, ""))
    missing = {
        one for one in wanted - found if not is_long or present <= one[0] <= latest.get(one[2], "")
    }
    if not missing and found <= wanted:
        return path, "agrees", ""
    return path, "differs", describe(missing, found - wanted, len(wanted), warnings)


def describe(missing, surplus, count, warnings):
    lines = [f"{len(missing)} of {count} missing, {len(surplus)} surplus"]
    lines += [f"  missing {one}" for one in sorted(missing)[:3]]
    lines += [f"  surplus {one}" for one in sorted(surplus)[:3]]
    lines += [f"  warning {one}" for one in warnings[:3]]
    return "\n".join(lines)


def main():
    program, work, *folders = sys.argv[1:]
    blank = os.path.join(work, "blank")
    load = [program, "--data-dir", blank, "load", "/dev/null", "--allow-empty"]
    subprocess.run(load, check=True, capture_output=True)
    paths = []
    for folder in folders:
        for place, _, names in os.walk(folder):
            paths += [os.path.join(place, name) for name in names if name.endswith(".ics")]
    paths.sort()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda one: judge(program, work, blank, *one), enumerate(paths)))
    counts = {}
    failed = False
    for path, verdict, why in done:
        known = next((reason for end, reason in KNOWN.items() if path.endswith(end)), None)
        if verdict == "differs":
            failed |= known is None
            print(f"{path}: {why}" + (f"\n  known: {known}" if known else ""))
        counts[verdict] = counts.get(verdict, 0) + 1
    agrees, judged = counts.get("agrees", 0), counts.get("agrees", 0) + counts.get("differs", 0)
    print(f"{agrees} of {judged} judged files agree ({agrees / max(judged, 1):.1%}); {counts.get('unjudged', 0)} are not judged")
    sys.exit(failed or not judged)


main()
