"""Hooks of schemathesis for scripts/contract.

A value can fit its schema and still be unknown to the service: not every pair of letters is a country. Such
values are replaced with known ones; values that break the schema are sent unchanged.
"""
import json
import re
import unicodedata
import urllib.request
import zlib

import schemathesis
from jsonschema_rs import Draft202012Validator

# Two billion words are allowed, and take a minute.
MOST_WORDS = 2_000

COUNTRIES = ["DE", "fr", "GB", "se"]
CULTURES = ["de", "en-US", "SV", "sr_Latn_RS"]
DATES = ["1984-02-29", "2001-01-31"]
# Plain, and encoded for a path.
CONTROL = re.compile(r"[\x00-\x20\x7f]|%(?:[01][0-9A-Fa-f]|20|7[Ff])")
# Parameters for which an empty value counts as absent, which a type cannot express.
EMPTY_IS_NONE = {"/api/v3/breaches": ["IsSpamList"], "/api/v2/buckets": ["limit", "start"]}
# Operations of buckets whose bodies have addresses and times.
BUCKETS = ["POST /api/v2/alerts", "PUT /api/v2/alerts/{id}", "POST /api/v2/crawls", "PUT /api/v2/crawls/{id}"]
# The end of the year 9999.
LAST_SECOND = 253_402_300_799
# By the name of a parameter or member: a pattern of its schema, and known values.
KNOWN = {
    "country": ("[A-Za-z]{2}", COUNTRIES),
    "countrycode": ("[A-Za-z]{2}", COUNTRIES),
    "culture": ("[A-Za-z]{2}([_-][A-Za-z]{2,5}){0,2}", CULTURES),
    "culturecode": ("[A-Za-z]{2}([_-][A-Za-z]{2,5}){0,2}", CULTURES),
    "cryptotype": ("[A-Za-z0-9 ._-]{1,100}", ["Bitcoin", "eth", "Tether"]),
    "refdate": (r"\d{4}-\d\d-\d\d", DATES),
    "birthdate": (r"\d{4}-\d\d-\d\d", DATES),
    "type": ("[A-Za-z0-9 ._-]{1,100}", ["Visa", "american_express", "Jcb"]),
}


@schemathesis.hook
def before_call(context, case, kwargs):
    label = case.operation.label
    query = case.query if isinstance(case.query, dict) else {}
    if label == "GET /api/v2/files":
        # Only the service creates scroll ids; 64 bits hold 19 digits, and it reads 18.
        query.pop("scroll-id", None)
        for name in ("size-from", "size-to", "last-modified-from", "last-modified-to"):
            if len(str(query.get(name, ""))) == 19 and str(query[name]).isdigit():
                query[name] = 10**18 - 1
        # The expression for `regexp` is in another parameter.
        if str(query.get("regexp", "")).lower() in ("1", "true") and not query.get("keywords"):
            query["keywords"] = "[0-9]+"
    if isinstance(case.path_parameters, dict) and "email" in case.path_parameters:
        # schemathesis generates control characters in addresses.
        email = str(case.path_parameters["email"])
        case.path_parameters["email"] = CONTROL.sub("", email) or email
    path = label.split(" ")[1]
    for name in EMPTY_IS_NONE.get(path, ()):
        if query.get(name) == "":
            query[name] = "none"
    if path.startswith("/calendar"):
        calendar_call(case)
        return
    if label in BUCKETS and isinstance(case.body, dict):
        buckets_call(case.body)
    if not path.startswith("/api/") or path.startswith("/api/v"):
        return
    if label == "GET /api/Text/LoremIpsum":
        number = str(query.get("number", ""))
        if number.isdigit() and MOST_WORDS < int(number) < 2**31:
            query["number"] = MOST_WORDS
        return
    ages = [query.get("minAge"), query.get("maxAge")]
    if all(re.fullmatch("[0-9]+", str(age)) for age in ages):
        # No schema can compare two parameters. In some phases numbers come as text.
        query["minAge"], query["maxAge"] = sorted(ages, key=int)
    for values in (query, case.path_parameters, case.body):
        for name, value in list(values.items()) if isinstance(values, dict) else ():
            form, known = KNOWN.get(str(name).lower(), (None, None))
            if value == "" and known is DATES:
                # An empty date counts as absent, which a format cannot express.
                values[name] = "none"
            if form and isinstance(value, str) and re.fullmatch(form, value):
                values[name] = known[len(value) * ord(value[0]) % len(known)]


def buckets_call(body):
    """Replaces what no schema can express: a search, a public address, a bucket of a known provider, a time to
    come. Texts that are too long are sent unchanged."""
    if isinstance(body.get("query"), str) and len(body["query"]) <= 8192:
        body["query"] = "keywords=backup"
    if isinstance(body.get("webhook"), str) and len(body["webhook"]) <= 1024:
        body["webhook"] = "https://example.org/hooks/buckets"
    if isinstance(body.get("url"), str) and len(body["url"]) <= 512:
        body["url"] = f"https://bucket-{zlib.crc32(json.dumps(body).encode())}.s3.eu-west-1.amazonaws.com/"
        # Both are for unknown providers only.
        if body.get("format") in ("s3", "azure", "gcs"):
            body.pop("format")
        if body.get("type") in ("aws", "azure", "dos", "gcp", "ali"):
            body.pop("type")
    for name in ("everySeconds", "until"):
        # An integer with a fraction of zero.
        if isinstance(body.get(name), float) and body[name].is_integer():
            body[name] = int(body[name])
    if isinstance(body.get("until"), int) and 0 <= body["until"] <= LAST_SECOND:
        body["until"] = LAST_SECOND


# Ids of the calendar by kind, read once.
ITEMS = {}
CALENDAR_DATES = ["2027-03-01 19:00", "2027-03-01T19:00:00+01:00", "March 1, 2027", "+3 days 19:00", "1804000000"]
CALENDAR_KNOWN = {
    **dict.fromkeys(["date", "date_utc", "start_date", "end_date", "starts_before", "starts_after", "ends_before",
                     "ends_after", "modified_after"], CALENDAR_DATES),
    "timezone": ["Europe/Vienna", "UTC+5:30", "EST", ""],
    "status": ["publish", "draft", "pending", "private", "confirmed"],
    "image": ["https://images.example/hall.jpg", ""],
    "website": ["https://town.example/hall?a=1&b=2", ""],
}
PIXEL = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
ENTRY = (b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:contract\r\nDTSTART:20270301T190000Z\r\n"
         b"SUMMARY:Contract\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
FILES = {"createImage": PIXEL, "importIcal": ENTRY}


def calendar_items(base, kind):
    if kind not in ITEMS:
        address = f"{base}/calendar/events/v1/{kind}?per_page=50&hide_empty=false"
        with urllib.request.urlopen(address) as answer:
            ITEMS[kind] = json.load(answer).get(kind)
    return ITEMS[kind]


def calendar_call(case):
    path, query = case.operation.path, case.query if isinstance(case.query, dict) else {}
    # It selects members of the answer, so required ones may be missing.
    query.pop("_fields", None)
    # A list of changes accepts only these.
    if "modified_after" in query:
        for name in set(query) - {"modified_after", "after_id", "per_page", "password"}:
            query.pop(name)
    else:
        query.pop("after_id", None)
    for values in (query, case.body):
        for one, other in (("geoloc_lat", "geoloc_lng"), ("geo_lat", "geo_lng")):
            if isinstance(values, dict) and (one in values) != (other in values):
                values.pop(one, None)
                values.pop(other, None)
    # A release names its date by id or by UID.
    if path.endswith("/release") and isinstance(case.body, dict) and "event" in case.body:
        case.body.pop("uid", None)
    # A request line has at most 48 KiB.
    for name in [name for name, value in query.items() if len(str(value)) > 4_000]:
        query.pop(name)
    kind = (path.split("/") + [""] * 5)[4]
    for name, value in case.path_parameters.items():
        fits = 0 < value < 2**63 if type(value) is int else isinstance(value, str) and value
        if fits and kind not in ("images", "subscriptions"):
            items = calendar_items(case.operation.schema.get_base_url(), kind)
            case.path_parameters[name] = items[len(str(value)) * 7 % len(items)][name]
    for values in (query, case.body):
        for name, value in list(values.items()) if isinstance(values, dict) else ():
            known = CALENDAR_KNOWN.get(name)
            if known and isinstance(value, str) and value:
                values[name] = known[len(value) * ord(value[0]) % len(known)]
    file = FILES.get(case.operation.definition.raw.get("operationId"))
    if file and case.meta.generation.mode.is_positive and isinstance(case.body, dict):
        case.body["file"] = file


# Error texts with which the calendar may refuse requests that fit its schemas.
BEYOND_SCHEMAS = re.compile("|".join([
    # Names something unknown, deleted, or invisible to this caller.
    r"must name (a|an|existing) ", r"must be the (id|slug) of ", r"must be a list of existing ids",
    r"must be a list of statuses that the caller may request", r"must have the id and the slug or name of the same ",
    # Only blanks, markup or control characters; a search with no words or too many.
    r"must not be empty", r"must hold a word", r"must have at most 16 words", r"must close its tags in order",
    # A schema counts characters; a slug has at most 200 bytes.
    r"must be at most 200 bytes long",
    # Addresses, intervals, statuses and states of subscriptions.
    r"must be an http, https or webcal address", r"must not be the address of subscription", r"must be \d+ to 43200 minutes",
    r"must be publish, draft, pending or private", r"must be a list of these: ", r"belongs to a subscription that ",
    # Rules and dates of series, which are texts in a schema.
    r"recurrence must ", r"recurrence has ", r"(rrule|exdates|rdates|until|count) ", r"scope must be ",
    # Venues and organizers have their own schemas.
    r"has missing or invalid data",
]))
YES_OR_NO = {"true": True, "1": True, "false": False, "0": False}
# Parameters that read every other value as false.
LENIENT = ["strict_dates", "has_events", "only_with_upcoming", "show_map", "show_map_link"]


def as_read(name, schema, value):
    """Returns the value as the calendar reads it, if it accepts more than the documented type."""
    kind = schema.get("type")
    if name in LENIENT:
        return True
    if kind == "boolean":
        return YES_OR_NO.get(str(value).lower(), value)
    if kind in ("integer", "number") and isinstance(value, str) and re.fullmatch(r" *-?[0-9.]+ *", value):
        return float(value) if "." in value else int(value)
    if kind == "string" and type(value) is int and "date" in name:
        return str(value)
    if isinstance(value, str):
        # Control characters are dropped.
        value = "".join(c for c in value if c in "\t\n\r" or unicodedata.category(c) != "Cc")
    if name == "image" and value is False:
        return ""
    if kind == "array":
        parts = [part for item in (value if isinstance(value, list) else [value])
                 for part in (item.split(",") if isinstance(item, str) else [item])]
        # Unknown category and tag numbers are skipped, fractions too.
        parts = [part for part in parts if part not in (None, "")
                 and not (name in ("categories", "tags") and isinstance(part, float))]
        return [as_read("", schema["items"], part) for part in parts]
    if isinstance(value, list):
        return [item for item in value if item is not None]
    return value


def fits_as_read(schema, required, values):
    # null counts as absent; a body that is not an object, as one without fields.
    values = {name: value for name, value in values.items() if value is not None} if isinstance(values, dict) else {}
    read = {name: as_read(name, schema[name], value) for name, value in values.items() if name in schema}
    validator = Draft202012Validator({"properties": schema, "required": required})
    return validator.is_valid(read)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if not case.operation.path.startswith("/calendar"):
        return True
    kind = type(failure).__name__
    if kind == "RejectedPositiveData":
        error = response.json()
        if error["code"] in ("term_exists", "duplicate_term_slug", "rest-invalid-event-id"):
            return False
        params = error["data"].get("params")
        texts = params.values() if isinstance(params, dict) else [""]
        return not all(BEYOND_SCHEMAS.search(text) for text in texts)
    if kind == "AcceptedNegativeData":
        operation = case.operation.definition.raw
        query = {one["name"]: one["schema"] for one in operation.get("parameters", []) if one["in"] == "query"}
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        name = content["schema"]["$ref"].split("/")[-1] if content else None
        body = case.operation.schema.raw_schema["components"]["schemas"][name] if name else {}
        return not (fits_as_read(query, [], case.query)
                    and fits_as_read(body.get("properties", {}), body.get("required", []), case.body))
    return True


@schemathesis.check
def calendar_method(ctx, response, case):
    """Checks that a wrong method on a path of the calendar gets the response of an unknown route."""
    data = case.meta.phase.data if case.meta else None
    scenario = getattr(getattr(data, "scenario", None), "name", "")
    if not case.operation.path.startswith("/calendar") or scenario != "UNSPECIFIED_HTTP_METHOD":
        return
    if response.request.method in ("OPTIONS", "HEAD"):
        return
    assert response.status_code == 404 and response.json()["code"] == "rest_no_route", response.status_code
