# A temporary PostgreSQL for tests; sourced by scripts/test.
#
# find_postgres FOLDERVAR   sets FOLDERVAR to the folder of initdb and postgres, and installs
#                           Debian's package if possible; fails without a server
# start_postgres BIN        starts a server with the options in POSTGRES_OPTIONS, if any, and sets POSTGRES_URL
# stop_postgres             stops it

postgres_folder() {
    local folder
    if command -v initdb >/dev/null && command -v postgres >/dev/null; then
        dirname "$(readlink -f "$(command -v initdb)")"
        return
    fi
    for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
        if [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ]; then
            echo "$folder"
            return
        fi
    done
    return 1
}

find_postgres() {
    local -n found=$1
    if found=$(postgres_folder); then return; fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing Debian's package postgresql ..." >&2
        apt-get update -qq >&2 &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >&2
        found=$(postgres_folder) && return
    fi
    return 1
}

# PostgreSQL refuses to run as root: there it runs as `postgres` or `nobody`.
as_postgres() {
    if [ "$(id -u)" != 0 ]; then
        "$@"
    elif id postgres >/dev/null 2>&1; then
        runuser -u postgres -- "$@"
    else
        runuser -u nobody -- "$@"
    fi
}

free_port() {
    python3 - 2>/dev/null <<'PY' || shuf -i 20000-29999 -n 1
import socket
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    print(s.getsockname()[1])
PY
}

start_postgres() {
    local bin port
    bin=$1
    # Outside the source tree, whose parent folders may be closed to the other user.
    POSTGRES_WORK=$(mktemp -d "${TMPDIR:-/tmp}/quintet-postgres.XXXXXX")
    chmod 711 "$POSTGRES_WORK"
    mkdir "$POSTGRES_WORK/run"
    if [ "$(id -u)" = 0 ]; then
        chown -R "$(id postgres >/dev/null 2>&1 && echo postgres || echo nobody)" "$POSTGRES_WORK"
    fi
    POSTGRES_BIN=$bin
    (cd "$POSTGRES_WORK" && as_postgres "$bin/initdb" --pgdata="$POSTGRES_WORK/data" \
        --username=quintet --auth=trust --encoding=UTF8 --locale=C --no-sync >/dev/null) || return 1
    port=$(free_port)
    (cd "$POSTGRES_WORK" && as_postgres "$bin/pg_ctl" --pgdata="$POSTGRES_WORK/data" --wait --silent \
        --log="$POSTGRES_WORK/run/log" --options="-p $port -c listen_addresses=127.0.0.1 \
        -c unix_socket_directories=$POSTGRES_WORK/run -c fsync=off -c full_page_writes=off \
        -c synchronous_commit=off -c max_connections=400 ${POSTGRES_OPTIONS:-}" start >/dev/null) || {
        cat "$POSTGRES_WORK/run/log" >&2
        return 1
    }
    POSTGRES_URL="postgres://quintet@127.0.0.1:$port/postgres"
}

stop_postgres() {
    [ -n "${POSTGRES_WORK:-}" ] || return 0
    (cd / && as_postgres "$POSTGRES_BIN/pg_ctl" --pgdata="$POSTGRES_WORK/data" --mode=immediate \
        --silent stop >/dev/null 2>&1)
    rm -rf "$POSTGRES_WORK"
    POSTGRES_WORK=
}
