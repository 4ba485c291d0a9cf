# Functions that scripts/up calls for breaches; see scripts/lib/samples.sh.

ports[breaches]="8083 8483 9083"

# Exit code 3 of a load: done, but some lines were skipped.
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
