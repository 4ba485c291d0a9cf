# Two temporary ClickHouse servers for tests; sourced by scripts/test after postgres.sh, whose
# free_port it uses.
#
# find_clickhouse FILEVAR   sets FILEVAR to the server's program, and installs Debian's packages if
#                           possible; fails without a server
# start_clickhouse PROGRAM  starts two servers and sets TEST_CLICKHOUSE_URL (of the first) and
#                           TEST_CLICKHOUSE_CLUSTER (two shards; with the suffix `_replicas`:
#                           two replicas of one shard)
# stop_clickhouse           stops them
#
# The servers listen on 127.0.0.1 and 127.0.0.2 with the same HTTP port, as the servers of a real
# cluster do. Systems that have no 127.0.0.2 cannot run them.

find_clickhouse() {
    local -n program=$1
    if program=$(PATH=$PATH:/usr/sbin command -v clickhouse-server); then return; fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing Debian's packages clickhouse-server and clickhouse-client ..." >&2
        apt-get update -qq >&2 &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
                clickhouse-server clickhouse-client >&2
        program=$(PATH=$PATH:/usr/sbin command -v clickhouse-server) && return
    fi
    return 1
}

# A server needs no privileges: root runs it as `nobody`.
as_clickhouse() {
    if [ "$(id -u)" != 0 ]; then
        "$@"
    else
        runuser -u nobody -- "$@"
    fi
}

# One server's configuration. Memory is kept small: mark and uncompressed caches are per server.
clickhouse_config() {
    local folder=$1 address=$2 tcp=$3
    cat >"$folder/users.xml" <<XML
<yandex>
    <profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
    <users>
        <quintet>
            <password>throw-away</password>
            <networks><ip>127.0.0.0/8</ip></networks>
            <profile>default</profile>
            <quota>default</quota>
        </quintet>
    </users>
    <quotas><default></default></quotas>
</yandex>
XML
    cat >"$folder/config.xml" <<XML
<yandex>
    <logger>
        <level>warning</level>
        <log>$folder/server.log</log>
        <errorlog>$folder/error.log</errorlog>
    </logger>
    <listen_host>$address</listen_host>
    <http_port>$CLICKHOUSE_HTTP</http_port>
    <tcp_port>$tcp</tcp_port>
    <path>$folder/data/</path>
    <tmp_path>$folder/tmp/</tmp_path>
    <user_files_path>$folder/files/</user_files_path>
    <format_schema_path>$folder/formats/</format_schema_path>
    <users_config>$folder/users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <mark_cache_size>67108864</mark_cache_size>
    <remote_servers>
        <quintet>
            <shard>$(clickhouse_replica 127.0.0.1 "$CLICKHOUSE_TCP_1")</shard>
            <shard>$(clickhouse_replica 127.0.0.2 "$CLICKHOUSE_TCP_2")</shard>
        </quintet>
        <quintet_replicas>
            <shard>
                $(clickhouse_replica 127.0.0.1 "$CLICKHOUSE_TCP_1")
                $(clickhouse_replica 127.0.0.2 "$CLICKHOUSE_TCP_2")
            </shard>
        </quintet_replicas>
    </remote_servers>
</yandex>
XML
}

clickhouse_replica() {
    echo "<replica><host>$1</host><port>$2</port><user>quintet</user>" \
        "<password>throw-away</password></replica>"
}

start_clickhouse() {
    local program=$1 number address tcp folder port
    CLICKHOUSE_WORK=$(mktemp -d "${TMPDIR:-/tmp}/quintet-clickhouse.XXXXXX")
    chmod 711 "$CLICKHOUSE_WORK"
    CLICKHOUSE_HTTP=$(free_port)
    CLICKHOUSE_TCP_1=$(free_port)
    CLICKHOUSE_TCP_2=$(free_port)
    CLICKHOUSE_PIDS=()
    for number in 1 2; do
        folder=$CLICKHOUSE_WORK/$number
        address=127.0.0.$number
        tcp=CLICKHOUSE_TCP_$number
        mkdir -p "$folder"/{data,tmp,files,formats}
        clickhouse_config "$folder" "$address" "${!tcp}"
        if [ "$(id -u)" = 0 ]; then chown -R nobody "$folder"; fi
        (cd "$folder" && exec_clickhouse "$program" "$folder") &
        CLICKHOUSE_PIDS+=($!)
    done
    for number in 1 2; do
        for port in "$CLICKHOUSE_HTTP" "$(eval "echo \$CLICKHOUSE_TCP_$number")"; do
            if ! listens "127.0.0.$number" "$port"; then
                cat "$CLICKHOUSE_WORK/$number"/{output,error.log} >&2
                return 1
            fi
        done
    done
    export TEST_CLICKHOUSE_URL="http://quintet:throw-away@127.0.0.1:$CLICKHOUSE_HTTP/"
    export TEST_CLICKHOUSE_CLUSTER=quintet
}

# The server replaces the shell, so that both have one process id.
exec_clickhouse() {
    local program=$1 folder=$2
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
        exec setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups \
            "$program" --config-file="$folder/config.xml" >"$folder/output" 2>&1
    fi
    as_clickhouse "$program" --config-file="$folder/config.xml" >"$folder/output" 2>&1
}

# Waits up to 30 s for a server.
listens() {
    local address=$1 port=$2 tries
    for tries in $(seq 150); do
        if (exec 3<>"/dev/tcp/$address/$port") 2>/dev/null; then return; fi
        sleep 0.2
    done
    echo "No ClickHouse server answered at $address:$port after $tries tries." >&2
    return 1
}

stop_clickhouse() {
    local pid
    [ -n "${CLICKHOUSE_WORK:-}" ] || return 0
    for pid in "${CLICKHOUSE_PIDS[@]}"; do kill -KILL "$pid" 2>/dev/null; done
    for pid in "${CLICKHOUSE_PIDS[@]}"; do wait "$pid" 2>/dev/null; done
    rm -rf "$CLICKHOUSE_WORK"
    CLICKHOUSE_WORK=
}
