"""One story for each service, with the Python client of openapi-generator:
story.py GENERATOR BUCKETS KEY BREACHES PASSWORDS CALENDAR KEY"""

import sys

import breaches_api
import buckets_api
import calendar_api
import generator_api
import passwords_api

generator, buckets, buckets_key, breaches, passwords, calendar, calendar_key = sys.argv[1:]


def check(what, passed):
    if not passed:
        sys.exit(f"error: generated Python client: {what}")
    print(f"  Python: {what}", file=sys.stderr)


def client(package, base, **headers):
    made = package.ApiClient(package.Configuration(host=base))
    for name, value in headers.items():
        made.set_default_header(name.replace("_", "-"), value)
    return made


api = generator_api.CardApi(client(generator_api, generator))
card = api.generate_card(type="Visa", seed="check").actual_instance
check("generator: a card that is valid", api.validate_card(card.card_number).is_valid)

api = buckets_api.SearchApi(client(buckets_api, buckets, authorization=f"Bearer {buckets_key}"))
check("buckets: a page of buckets", len(api.list_buckets(limit=2).buckets) == 2)

at = client(breaches_api, breaches, breach_api_key="0" * 32)
found = breaches_api.AccountsApi(at).breached_account("account-exists@breach-integration-tests.example")
check("breaches: an account", found[0].name == "Acmegram")

lines = passwords_api.RangeApi(client(passwords_api, passwords)).get_password_range("5BAA6")
check("passwords: a range", "1E4C9B93F3F0682250B6CF8331B7EE68FD8:" in lines)

api = calendar_api.EventsApi(client(calendar_api, calendar, authorization=f"Bearer {calendar_key}"))
made = api.create_event(calendar_api.EventCreate(
    title="By a Python client", start_date="+1 day 10:00", end_date="+1 day 11:00"))
check("calendar: an event made and read", api.get_event(made.id).title == "By a Python client")
api.delete_event(made.id)
