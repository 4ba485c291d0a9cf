"""Checks that imported calendar files have the occurrences that an independent expansion gives them.

Usage: calendar_files.py CALENDAR WORK FOLDER...

Each file below the folders is imported by the program CALENDAR into a calendar of its own below WORK, and
its events are compared with those of recurring-ical-events: starts, ends and titles. Files that
recurring-ical-events cannot read or that have no events are not judged. Exits with 1 if a file differs that
is not in KNOWN.
"""

import concurrent.futures
import datetime
import html
import json
import os
import shutil
import sqlite3
import subprocess
import sys

import icalendar
import recurring_ical_events

UTC = datetime.timezone.utc
# As in the program: occurrences of a series, and months ahead.
MOST, MONTHS = 500, 24

# Files that this program reads differently on purpose, by the end of their path, with the reason and the
# section of RFC 5545; see the table in services/calendar/README.md.
BACKWARDS = "3.8.2.2: DTEND must be later than DTSTART; recurring-ical-events exchanges both"
SAME_UID = "3.8.4.7: a UID is unique; of entries with the same start, the later one is imported"
MIXED = "3.6.1: DTSTART is a day, so DTEND must be one; the event is all-day"
KNOWN = {
    "/ical_input.ics": SAME_UID,
    "/test3.ics": SAME_UID,
    "/tutorials/example.ics": "3.8.4.7: a UID is unique; entries with other starts are both imported",
    "/test12.ics": BACKWARDS,
    "/end_before_start_event.ics": BACKWARDS,
    "/issue_132_swapped_start_and_end.ics": BACKWARDS,
    "/issue_201_mixed_datetime_and_date.ics": MIXED,
    "/issue_201_test_matrix.ics": MIXED,
    "/test14.ics": "3.8.5.3: DTSTART is in UTC, so the series repeats in UTC; X-WR-TIMEZONE does not change that",
    "/multiple_rrule.ics": "3.3.10: DTSTART always counts as the first occurrence of COUNT",
    "/issue_75_range_parameter.ics": "3.3.10: UNTIL is a day for a timed series; the whole day is included",
    "/issue_117_until_before_dtstart.ics": "3.3.10: UNTIL is before DTSTART; the start is imported",
    "/issue_253_additional_recurrence_id.ics": "3.8.4.4: RECURRENCE-ID names no occurrence; it is imported",
    "/issue_156_RDATE_with_PERIOD_TZID_khal.ics": "3.8.4.4: dates of a RANGE override are imported",
    "/test6.ics": "3.3.4: VALUE=DATE with a time; a time of 00:00 makes an all-day event",
}


def key(start, end, title):
    """Returns days as dates, with the day after the last one, and times as instants in UTC."""

    if not isinstance(end, datetime.datetime) and end <= start:
        end = start + datetime.timedelta(days=1)

    def plain(moment):
        if not isinstance(moment, datetime.datetime):
            return moment.isoformat()
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S")

    return plain(start), plain(end), html.unescape(title).strip() or "Untitled"


def expected(path, until):
    with open(path, "rb") as file:
        text = file.read()
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
    warnings = [f"{one['line']} {one['message']}" for one in report["warnings"]]
    # Of a long series, past occurrences are left out, which a warning says.
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
    print(f"{agrees} of {judged} judged files agree; {counts.get('unjudged', 0)} are not judged")
    sys.exit(failed or not judged)


main()
