# Sample data of each service, and what to try with it; sourced by scripts/up.
#
# samples_NAME loads into data/NAME, once: a second run finds the mark of the first. What was
# loaded twice anyway would change nothing. Keys for trying are kept in data/NAME/demo-key.

# load_once NAME SAMPLES COMMAND...   runs the command unless these samples were loaded before
load_once() {
    local name=$1 samples=$2 mark sum
    shift 2
    mark=$data/$name/samples-loaded
    sum=$(find "$samples" -type f -print0 | sort -z | xargs -0 cat | cksum)
    [ "$(cat "$mark" 2>/dev/null)" != "$sum" ] || return 0
    "$@" && printf '%s\n' "$sum" >"$mark"
}

# keep_key NAME COMMAND...   keeps the key that the command prints, for the next run
keep_key() {
    local file=$data/$1/demo-key
    shift
    [ -s "$file" ] && return
    (umask 077 && "$@" >"$file.new") && mv "$file.new" "$file"
}

demo_key() { cat "$data/$1/demo-key"; }

samples_generator() {
    keep_key generator "$bin/generator" keys issue demo
}
address_of_generator() { echo "http://127.0.0.1:8081   key $(demo_key generator) (optional)"; }
try_generator() { echo "curl 'http://127.0.0.1:8081/api/Card?type=Visa&seed=demo'"; }

samples_buckets() {
    load_once buckets samples/buckets "$bin/buckets" load samples/buckets &&
        keep_key buckets "$bin/buckets" keys issue demo --plan premium
}
address_of_buckets() { echo "http://127.0.0.1:8082   key $(demo_key buckets)"; }
try_buckets() {
    echo "curl -H 'Authorization: Bearer $(demo_key buckets)' 'http://127.0.0.1:8082/api/v2/files?keywords=backup&limit=1'"
}

# Exit code 3 of a load: done, and some lines were no addresses.
load_accounts() {
    local name=$1 file=$2
    shift 2
    "$bin/breaches" accounts load --breach "$name" "$@" "samples/breaches/$file" || [ $? -eq 3 ]
}
load_breaches() {
    local name
    "$bin/breaches" catalogue import samples/breaches/catalogue.json || return
    for name in AlderwickBooks BrindleForum DriftwoodTravel EverlightClinic GrebeMailer LanternRadio; do
        load_accounts "$name" "$name.txt" || return
    done
    load_accounts CopperKettle CopperKettle.dump.txt --format text &&
        load_accounts FenwayGames FenwayGames.csv --format csv --column E-Mail &&
        "$bin/breaches" stealer-logs load --breach IronbarkLogs samples/breaches/IronbarkLogs.csv &&
        "$bin/breaches" pastes load samples/breaches/pastes.ndjson &&
        "$bin/breaches" subscriber add demo@example.com --if-missing &&
        "$bin/breaches" subscription set demo@example.com --plan pro1 --until 2099-12-31
}
samples_breaches() {
    load_once breaches samples/breaches load_breaches &&
        keep_key breaches "$bin/breaches" keys issue demo@example.com
}
address_of_breaches() { echo "https://localhost:8483   key $(demo_key breaches)"; }
try_breaches() {
    echo "curl --cacert $data/breaches/tls/ca.pem -H 'breach-api-key: $(demo_key breaches)' https://localhost:8483/api/v3/breachedaccount/vito_grove@post.example"
}

samples_passwords() {
    load_once passwords samples/passwords.txt \
        "$bin/passwords" build --input-format plaintext --activate samples/passwords.txt
}
address_of_passwords() { echo "https://localhost:8484   no key"; }
try_passwords() { echo "curl --cacert $data/passwords/tls/ca.pem https://localhost:8484/range/5BAA6"; }

samples_calendar() {
    local key
    keep_key calendar sh -c "od -An -N16 -tx1 /dev/urandom | tr -d ' \n'"
    # Read at the very first start only: the key of the administrator.
    key=$(demo_key calendar)
    ADMIN_KEY=$key load_once calendar samples/calendar.ndjson "$bin/calendar" load samples/calendar.ndjson
}
address_of_calendar() { echo "http://127.0.0.1:8085   key $(demo_key calendar)"; }
try_calendar() {
    echo "curl 'http://127.0.0.1:8085/calendar/events/v1/events?search=half+marathon&_fields=events.title,events.venue.venue,total'"
}
