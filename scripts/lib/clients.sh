# Python and npm packages in folders of their own, and servers on free ports; sourced by
# scripts/clients.d and scripts/bench.d.

. scripts/lib/requirements.sh

clients=${CARGO_TARGET_DIR:-target}/clients
mkdir -p "$clients"
clients=$(cd "$clients" && pwd)

say() { printf '%s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# python_with NAME PACKAGE...   sets python to an interpreter that has the packages
python_with() {
    local folder=$clients/venv-$1
    shift
    command -v python3 >/dev/null || die "python3 is missing (Debian: apt-get install python3 python3-venv)"
    [ -x "$folder/bin/python" ] || python3 -m venv "$folder" ||
        die "python3 cannot make a virtual environment (Debian: apt-get install python3-venv)"
    python=$folder/bin/python
    local wanted="$*"
    if [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ]; then
        "$python" -m pip install --quiet --disable-pip-version-check "$@" || die "pip could not install: $wanted"
        printf '%s' "$wanted" >"$folder/wanted"
    fi
}

# node_with NAME PACKAGE...     sets node_folder to a folder whose node_modules has the packages
node_with() {
    node_folder=$clients/node-$1
    shift
    command -v npm >/dev/null || die "node and npm are missing (Debian: apt-get install nodejs npm)"
    mkdir -p "$node_folder"
    local wanted="$*"
    if [ "$(cat "$node_folder/wanted" 2>/dev/null)" != "$wanted" ]; then
        (cd "$node_folder" && { [ -f package.json ] || echo '{"private":true,"type":"module"}' >package.json; } &&
            npm install --silent --no-audit --no-fund "$@") || die "npm could not install: $wanted"
        printf '%s' "$wanted" >"$node_folder/wanted"
    fi
}

# build_services                builds the same packages and features as scripts/test, so that nothing is built
# twice; SKIP_BUILD=1 skips the build
build_services() {
    [ -z "${SKIP_BUILD:-}" ] || return 0
    require_toolchain
    CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0} cargo build --quiet --locked --bins --tests "${cargo_flags[@]}"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

servers=()
folders=()

# new_folder VARIABLE           creates a folder that is removed at the end
new_folder() {
    local -n made=$1
    made=$(mktemp -d "${TMPDIR:-/tmp}/quintet.XXXXXX")
    folders+=("$made")
}

# start_server BINARY DATA_DIR [ARGUMENT...]
# Starts a service on free ports and waits until it is ready; sets base, https_base, server_pid and server_log.
start_server() {
    local binary=$1 data=$2
    shift 2
    local http https admin
    http=$(free_port) https=$(free_port) admin=$(free_port)
    mkdir -p "$data"
    server_log=$data/server.log
    "$binary" serve --data-dir "$data" --bind "127.0.0.1:$http" --tls-bind "127.0.0.1:$https" \
        --admin-bind "127.0.0.1:$admin" "$@" >"$server_log" 2>&1 &
    server_pid=$!
    servers+=("$server_pid")
    base=http://127.0.0.1:$http
    https_base=https://localhost:$https
    admin_base=http://127.0.0.1:$admin
    local try
    for try in $(seq 200); do
        "$binary" healthcheck --admin-bind "127.0.0.1:$admin" >/dev/null 2>&1 && return
        kill -0 "$server_pid" 2>/dev/null || { cat "$server_log" >&2; die "$binary stopped"; }
        sleep 0.1
    done
    cat "$server_log" >&2
    die "$binary is not ready after 20 seconds"
}

# start_chdb [SLOW_FILE]        starts a current ClickHouse: chdb-core of PyPI (190 MB), the server as a library, behind
# a small HTTP front end. Sets TEST_CLICKHOUSE_URL and chdb_log.
start_chdb() {
    # Its data frames would need more packages, and are not used.
    python_with buckets --no-deps chdb-core==26.9.0
    local data
    new_folder data
    mkdir "$data/server"
    chdb_log=$data/log
    "$python" scripts/lib/chdb_front.py "$data/server" quintet throw-away "$data/port" "$@" >"$chdb_log" 2>&1 &
    local pid=$! try
    servers+=("$pid")
    for try in $(seq 300); do
        [ ! -s "$data/port" ] || break
        kill -0 "$pid" 2>/dev/null || { cat "$chdb_log" >&2; die "chdb-core cannot be started"; }
        sleep 0.1
    done
    export TEST_CLICKHOUSE_URL="http://quintet:throw-away@127.0.0.1:$(cat "$data/port")/"
    unset TEST_CLICKHOUSE_CLUSTER
}

clean_up() {
    local pid
    for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
    [ ${#servers[@]} -eq 0 ] || wait "${servers[@]}" 2>/dev/null || true
    [ ${#folders[@]} -eq 0 ] || rm -rf "${folders[@]}"
}
trap clean_up EXIT

# has PROGRAM PACKAGE           finds a program, or installs it
has() {
    PATH=$PATH:/usr/sbin
    command -v "$1" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >&2 || true
    fi
    command -v "$1" >/dev/null || { say "WARNING: left out: $1 is missing (Debian: apt-get install $2)"; return 1; }
}

# need_chromium                 installs Chromium with its driver, or fails if they are missing
need_chromium() {
    command -v chromium >/dev/null && command -v chromedriver >/dev/null && return
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
        die "chromium is missing (Debian: apt-get install chromium chromium-driver)"
    say "installing chromium"
    apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null
}
