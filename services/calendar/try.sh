# Settings of calendar for scripts/up; see scripts/lib/samples.sh.

ports[calendar]="8085 9085"

samples_calendar() {
    local key
    # The site of the samples, as shown on its pages.
    export SITE_NAME=${SITE_NAME:-Port Marrow} SITE_TIMEZONE=${SITE_TIMEZONE:-Europe/Vienna}
    keep_key calendar sh -c "od -An -N16 -tx1 /dev/urandom | tr -d ' \n'"
    # The administrator key; read on the first start only.
    key=$(demo_key calendar)
    ADMIN_KEY=$key load_once calendar samples/calendar.ndjson "$bin/calendar" load samples/calendar.ndjson
}
address_of_calendar() { echo "http://127.0.0.1:8085   key $(demo_key calendar)   pages: /events/"; }
try_calendar() {
    echo "curl 'http://127.0.0.1:8085/calendar/events/v1/events?search=half+marathon&_fields=events.title,events.venue.venue,total'"
}
