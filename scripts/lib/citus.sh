# A temporary Citus cluster of a coordinator and two workers for tests; sourced by scripts/clients.d/citus
# and scripts/bench.d/citus.
#
# find_citus FOLDERVAR   sets FOLDERVAR to the folder of the PostgreSQL programs with Citus. Builds Citus if
#                        CITUS_SOURCE names its archive; fails without either
# start_citus BIN        starts the cluster with the server options in POSTGRES_OPTIONS, if any, and sets
#                        CITUS_COORDINATOR and CITUS_WORKERS (URLs)
# citus_database NAME    creates a database on all servers and sets CITUS_URL
# citus_sql N NAME SQL   runs a statement on server N (0: the coordinator)
# citus_server BIN N     starts server N again after it was killed
# stop_citus             stops it and removes its data

. scripts/lib/postgres.sh

has_citus() {
    [ -x "$1/pg_config" ] && [ -e "$("$1/pg_config" --pkglibdir)/citus.so" ]
}

find_citus() {
    local -n citus_bin=$1
    find_postgres citus_bin || return 1
    if has_citus "$citus_bin"; then return; fi
    [ -n "${CITUS_SOURCE:-}" ] || return 1
    build_citus "$citus_bin"
}

build_citus() {
    local bin=$1 version work
    version=$(basename "$(dirname "$bin")")
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing what Citus is built with ..." >&2
        apt-get update -qq >&2 &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "postgresql-server-dev-$version" build-essential flex \
                bison zstd libcurl4-openssl-dev liblz4-dev libzstd-dev libssl-dev libkrb5-dev libreadline-dev \
                libxml2-dev libpam0g-dev libselinux1-dev libxslt1-dev >&2 || return 1
    fi
    work=$(mktemp -d)
    echo "Building Citus from $CITUS_SOURCE ..." >&2
    tar -xf "$CITUS_SOURCE" -C "$work" --strip-components=1 &&
        (cd "$work" && ./configure "PG_CONFIG=$bin/pg_config" && make -j"$(nproc)" && make install) \
            >"$work/build.log" 2>&1 || {
        tail -20 "$work/build.log" >&2
        rm -rf "$work"
        return 1
    }
    rm -rf "$work"
    has_citus "$bin"
}

citus_server() {
    local data=$CITUS_WORK/$2
    (cd / && as_postgres "$1/pg_ctl" --pgdata="$data" --wait --silent --log="$CITUS_WORK/log$2" \
        --options="-p ${CITUS_PORTS[$2]} -c listen_addresses=127.0.0.1 -c unix_socket_directories=$CITUS_WORK \
        -c shared_preload_libraries=citus -c max_connections=200 -c max_prepared_transactions=200 \
        -c wal_level=logical -c fsync=off -c full_page_writes=off ${POSTGRES_OPTIONS:-}" start >/dev/null)
}

start_citus() {
    local n user=quintet
    CITUS_BIN=$1 CITUS_PORTS=() CITUS_WORKERS=
    CITUS_WORK=$(mktemp -d "${TMPDIR:-/tmp}/quintet-citus.XXXXXX")
    chmod 1777 "$CITUS_WORK"
    for n in 0 1 2; do
        CITUS_PORTS[n]=$(free_port)
        (cd / && as_postgres "$1/initdb" --pgdata="$CITUS_WORK/$n" --username=$user --auth=trust --encoding=UTF8 \
            --locale=C --no-sync >/dev/null) && citus_server "$1" $n || {
            cat "$CITUS_WORK/log$n" >&2
            return 1
        }
    done
    CITUS_COORDINATOR="postgres://$user@127.0.0.1:${CITUS_PORTS[0]}/postgres"
    for n in 1 2; do
        CITUS_WORKERS+="${CITUS_WORKERS:+,}postgres://$user@127.0.0.1:${CITUS_PORTS[n]}/postgres"
    done
}

citus_sql() {
    "$CITUS_BIN/psql" -qAt -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "${CITUS_PORTS[$1]}" -U quintet "$2" -c "$3"
}

citus_database() {
    local n
    for n in 0 1 2; do
        citus_sql "$n" postgres "CREATE DATABASE $1" || return 1
        citus_sql "$n" "$1" 'CREATE EXTENSION citus' || return 1
    done
    citus_sql 0 "$1" "SELECT citus_set_coordinator_host('127.0.0.1', ${CITUS_PORTS[0]})" >/dev/null || return 1
    for n in 1 2; do
        citus_sql 0 "$1" "SELECT citus_add_node('127.0.0.1', ${CITUS_PORTS[n]})" >/dev/null || return 1
    done
    CITUS_URL="postgres://quintet@127.0.0.1:${CITUS_PORTS[0]}/$1"
}

kill_citus_server() {
    kill -9 "$(head -1 "$CITUS_WORK/$1/postmaster.pid")"
}

stop_citus() {
    local n
    [ -n "${CITUS_WORK:-}" ] || return 0
    for n in 0 1 2; do
        (cd / && as_postgres "$CITUS_BIN/pg_ctl" --pgdata="$CITUS_WORK/$n" --mode=immediate --silent stop \
            >/dev/null 2>&1) || true
    done
    rm -rf "$CITUS_WORK"
    CITUS_WORK=
}
