# The steps of scripts/stack; sourced by it.

step() { printf '\n== %s\n' "$*"; }
seconds_since() { awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $1 }"; }

# ask PATH-OF-URL CURL-ARGUMENT...   runs the README's curl at the stack's address
ask() { curl --silent --max-time 10 --connect-to "::$address:" "$@"; }
status_of() { ask --output /dev/null --write-out '%{http_code}' "$@" || true; }

build_missing_images() {
    local folder name missing=()
    for folder in services/*/; do
        name=$(basename "$folder")
        docker image inspect "quintet/$name:$QUINTET_TAG" >/dev/null 2>&1 || missing+=("$name")
    done
    docker image inspect "quintet/breaches:$QUINTET_TAG-debug" >/dev/null 2>&1 || missing+=(breaches-samples)
    [ ${#missing[@]} -eq 0 ] || docker compose build "${missing[@]}" >&2
    docker image ls --filter reference="quintet/*:$QUINTET_TAG*" --format '{{.Repository}}:{{.Tag}} {{.Size}}'
}

# containers PART   the services that have a container NAME-PART in docker-compose.yml
containers() { sed -n "s/^  \([a-z]*\)-$1:\$/\1/p" docker-compose.yml | sort -u; }

# Does not wait for passwords, which is not ready before it has a corpus.
bring_up() {
    local begun
    begun=$(date +%s.%N)
    docker compose up --detach passwords >"$work/up" 2>&1 &&
        docker compose up --detach --wait --wait-timeout 300 $(containers db) >>"$work/up" 2>&1 || {
        cat "$work/up" >&2
        fail "the stack is not healthy after 300 seconds"
    }
    echo "the services with a database are healthy, and passwords is up, after $(seconds_since "$begun") s"
}

await_samples() {
    local name container code
    for name in $(containers samples); do
        docker compose up --detach "$name-samples" >"$work/up" 2>&1 || { cat "$work/up" >&2; fail "$name-samples does not start"; }
        container=$(docker compose ps --all --quiet "$name-samples")
        code=$(timeout 120 docker wait "$container")
        docker logs "$container" >"$work/samples" 2>&1
        [ "$code" = 0 ] || { cat "$work/samples" >&2; fail "$name-samples ended with ${code:-no code}"; }
        echo "$name: $(tail -1 "$work/samples" | cut -c 1-150)"
    done
}

# Runs each `$ curl …` of the README and compares the response with the next line. Sets buckets_key and breaches_key.
run_readme_lines() {
    (cd "$work" && docker compose cp breaches:/data/tls/ca.pem breaches-ca.pem && docker compose cp passwords:/tls/ca.pem passwords-ca.pem) 2>/dev/null
    local command wanted got key url ran=0
    buckets_key=$(docker compose exec -T buckets /service keys issue demo --plan premium </dev/null 2>/dev/null)
    breaches_key=$(docker compose exec -T breaches /service keys issue demo@example.com </dev/null 2>/dev/null)
    local try
    # The server checks for a new corpus every 30 seconds.
    for try in $(seq 70); do
        [ "$(status_of --cacert "$work/passwords-ca.pem" https://localhost:8484/readyz)" != 200 ] || break
        sleep 0.5
    done
    while IFS=$'\t' read -r command wanted; do
        case $command in *8082*) key=$buckets_key ;; *) key=$breaches_key ;; esac
        command=${command#\$ curl }
        command=${command//KEY/$key}
        command=${command//data\/breaches\/tls\/ca.pem/$work/breaches-ca.pem}
        command=${command//data\/passwords\/tls\/ca.pem/$work/passwords-ca.pem}
        got=$(eval "ask $command")
        url=$(grep -o "https\{0,1\}://[^' ]*" <<<"$command")
        got=$(tr -d '\r' <<<"$got" | head -1)
        [ "$got" = "$wanted" ] || fail "$url answers
$got
and README.md says
$wanted"
        echo "as in README.md: $url"
        ran=$((ran + 1))
    done < <(awk '/^\$ curl/ { command = $0; getline; printf "%s\t%s\n", command, $0 }' README.md)
    [ "$ran" -ge 5 ] || fail "README.md has only $ran commands"
}

run_handbook_commands() {
    local line ran=0
    while IFS= read -r line; do
        (cd "$work" && eval "$line") >"$work/output" 2>&1 </dev/null || { cat "$work/output" >&2; fail "a command of docs/operations.md fails: $line"; }
        echo "$line"
        ran=$((ran + 1))
    done < <(awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$root/docs/operations.md" |
        grep -E '^(\(umask 077; )?docker compose (cp|exec) ' | sed 's/  *#.*//')
    [ "$ran" -ge 8 ] || fail "docs/operations.md has only $ran compose commands"
    [ -s "$work/calendar.dump" ] || fail "the dump of the calendar is empty"
}

# Prints the URL of a request that reads the database of a service.
data_url() {
    case $1 in
    calendar) echo "http://localhost:8085/calendar/events/v1/events?search=marathon$RANDOM" ;;
    generator) echo "http://localhost:8081/api/Card?type=Visa" ;;
    buckets) echo "http://localhost:8082/api/v2/files?keywords=backup&limit=$((RANDOM % 100 + 1))" ;;
    breaches) echo "https://localhost:8483/api/v3/breachedaccount/vito_grove@post.example" ;;
    esac
}
header_for() {
    case $1 in
    buckets) echo "authorization: Bearer $buckets_key" ;;
    breaches) echo "breach-api-key: $breaches_key" ;;
    *) echo "accept: */*" ;;
    esac
}
service_url() { data_url "$1" | grep -o 'https\{0,1\}://[^/]*'; }

# break_database NAME   stops and starts its database, and checks the responses and the time to recover
break_database() {
    local name=$1 begun try seen="" status options
    # A separate `local`, because bash expands the whole list before it assigns.
    options=(--cacert "$work/breaches-ca.pem" -A stack -H "$(header_for "$name")")
    docker compose stop --timeout 30 "$name-db" >/dev/null 2>&1
    for try in $(seq 12); do
        status=$(status_of "${options[@]}" "$(data_url "$name")")
        case $status in 200 | 503) ;; *) fail "$name answers $status without its database" ;; esac
        seen+="$status "
        sleep 0.25
    done
    [ "$(status_of "${options[@]}" "$(service_url "$name")/healthz")" = 200 ] || fail "$name is not alive without its database"
    [ "$(status_of "${options[@]}" "$(service_url "$name")/readyz")" = 503 ] || fail "$name is ready without its database"
    docker compose start "$name-db" >/dev/null 2>&1
    begun=$(date +%s.%N)
    for try in $(seq 120); do
        [ "$(status_of "${options[@]}" "$(service_url "$name")/readyz")" != 200 ] || break
        sleep 0.1
    done
    [ "$try" -lt 120 ] || fail "$name is not ready again"
    status=$(status_of "${options[@]}" "$(data_url "$name")")
    case $status in 200) ;; *) fail "$name answers $status once its database is back" ;; esac
    echo "$name: without its database $(tr ' ' '\n' <<<"$seen" | sort | uniq -c | awk 'NF == 2 { printf "%s times %s, ", $1, $2 }')/readyz 503; ready $(seconds_since "$begun") s after its start"
}

# Replaces the image of the calendar during requests, which must return its events before and after.
upgrade_calendar() {
    local url="http://localhost:8085/calendar/events/v1/events?per_page=1&_fields=total" before after gap
    before=$(ask "$url")
    printf 'FROM quintet/calendar:%s\nLABEL org.opencontainers.image.version=next\n' "$QUINTET_TAG" |
        docker build --quiet --tag "quintet/calendar:$QUINTET_TAG-next" - >/dev/null
    while :; do
        printf '%s %s\n' "$(date +%s.%N)" "$(status_of --max-time 2 "$url")"
        sleep 0.02
    done >"$work/statuses" &
    local asking=$!
    QUINTET_TAG=$QUINTET_TAG-next docker compose up --detach --wait --wait-timeout 120 calendar >"$work/up" 2>&1 || { cat "$work/up" >&2; fail "the upgraded calendar is not healthy"; }
    sleep 1
    kill "$asking"
    wait "$asking" 2>/dev/null || true
    docker inspect --format '{{index .Config.Labels "org.opencontainers.image.version"}}' "$(docker compose ps --quiet calendar)" |
        grep -qx next || fail "the calendar runs its old image"
    after=$(ask "$url")
    [ "$before" = "$after" ] || fail "the calendar had $before before the upgrade and has $after"
    # 000 is a refused connection; any status except 200 and 503 is wrong.
    ! awk '{ print $2 }' "$work/statuses" | grep -qvE '^(200|503|000)$' || fail "wrong answers during the upgrade: $(awk '{ print $2 }' "$work/statuses" | sort | uniq -c)"
    gap=$(awk '$2 != 200 { if (!from) from = $1; to = $1 } END { printf "%.1f", to - from }' "$work/statuses")
    echo "one replica replaced: $(awk '{ print $2 }' "$work/statuses" | sort | uniq -c | awk '{ printf "%s times %s, ", $1, $2 }')not served for $gap s; $after"
}

# Runs the image of a service on the volume quintet-stack-fixture until it responds, then stops it.
# run_on_fixture NAME TAG
run_on_fixture() {
    local name=$1 tag=$2 try
    docker run --detach --name quintet-stack-fixture --volume quintet-stack-fixture:/data --env TLS_MODE=off \
        "quintet/$name:$tag" >/dev/null
    for try in $(seq 120); do
        if docker exec quintet-stack-fixture /service healthcheck >/dev/null 2>&1; then break; fi
        [ "$try" -lt 120 ] || { docker logs quintet-stack-fixture >&2; fail "$name:$tag does not serve the data of $version"; }
        sleep 0.25
    done
    docker stop -t 30 quintet-stack-fixture >/dev/null
    [ "$(docker inspect --format '{{.State.ExitCode}}' quintet-stack-fixture)" = 0 ] || fail "$name:$tag does not stop in order"
    docker rm quintet-stack-fixture >/dev/null
}

# Opens the data of each version in fixtures with the older image, with this one and with the older one again. The older
# image of 0.1.0 is this one, because no version precedes it; QUINTET_PREVIOUS names the tag of another.
upgrade_and_roll_back_fixtures() {
    local archive name version previous=${QUINTET_PREVIOUS:-$QUINTET_TAG} tag
    for archive in "$root"/fixtures/*/*.tar.gz; do
        name=$(basename "$archive" .tar.gz)
        case $name in *.postgres) continue ;; esac
        version=$(basename "$(dirname "$archive")")
        tar -C "$work" -xzf "$archive"
        chmod -R a+rX "$work/$name"
        docker volume create quintet-stack-fixture >/dev/null
        docker run --rm --volume quintet-stack-fixture:/data --volume "$work/$name:/backup:ro" \
            "quintet/$name:$previous" restore /backup >"$work/up" 2>&1 || { cat "$work/up" >&2; fail "$name:$previous does not restore the data of $version"; }
        for tag in "$previous" "$QUINTET_TAG" "$previous"; do run_on_fixture "$name" "$tag"; done
        docker volume rm quintet-stack-fixture >/dev/null
        rm -rf "${work:?}/$name"
        echo "$name: data of $version served by $previous, $QUINTET_TAG and $previous again"
    done
}

look_at_containers() {
    docker stats --no-stream --format '{{.Name}}\t{{.MemUsage}}' | sort | sed 's/^quintet-stack-//'
    local bad
    bad=$(docker ps --all --quiet --filter label=com.docker.compose.project=quintet-stack |
        xargs docker inspect --format '{{.Name}} restarts={{.RestartCount}} oom={{.State.OOMKilled}}' | grep -v 'restarts=0 oom=false' || true)
    [ -z "$bad" ] || fail "containers were restarted or ran out of memory: $bad"
}

take_down_and_up() {
    local url="http://localhost:8085/calendar/events/v1/events?per_page=1&_fields=total" before begun
    before=$(ask "$url")
    begun=$(date +%s.%N)
    docker compose down >/dev/null 2>&1
    echo "down after $(seconds_since "$begun") s"
    [ -z "$(docker ps --all --quiet --filter label=com.docker.compose.project=quintet-stack)" ] || fail "down leaves containers"
    bring_up
    [ "$(ask "$url")" = "$before" ] || fail "the calendar lost events: $before, now $(ask "$url")"
}

look_for_traces() {
    docker compose down --volumes >/dev/null 2>&1
    local left
    left=$(docker ps --all --format '{{.Names}}' --filter label=com.docker.compose.project=quintet-stack
        docker network ls --format '{{.Name}}' --filter label=com.docker.compose.project=quintet-stack
        docker volume ls --quiet | grep -vxF "${volumes_before:-none}" || true)
    [ -z "$left" ] || fail "left behind: $left"
    echo "after down --volumes: no container, no network, no volume"
}
