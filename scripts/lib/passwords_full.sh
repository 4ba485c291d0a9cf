# The corpus at its real size: built from a pipe, verified, served from disk and from cache; sourced by
# scripts/bench.d/passwords. The text (45 bytes an entry) is never written to disk.

entries=${FULL_ENTRIES:-1300000000}
needed=$((entries * 182 / 10 + 70 * 1048576))
free=$(df --output=avail -B1 "$work" | tail -1)
[ "$free" -gt $((needed + needed / 10)) ] || die "$work has $((free >> 30)) GiB free; $((needed >> 30)) are needed"
full=$work/full
rm -rf "$full"
mkdir -p "$full"
folders+=("$full")

seconds_of() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.0f", b - a }'; }
reported() { sed "s/.*\"$1\":\([0-9]*\).*/\1/" <<<"$report"; }
timed() { # COMMAND...      sets wall and cpu
    local begin
    begin=$(date +%s.%N)
    { TIMEFORMAT='%U %S'; time "$@" >"$full/out" 2>"$full/log"; } 2>"$full/time"
    wall=$(seconds_of "$begin" "$(date +%s.%N)")
    read -r user kernel <"$full/time"
    cpu=$(awk -v a="$user" -v b="$kernel" 'BEGIN { printf "%.0f", a + b }')
}

say "building from a pipe: $entries entries in 1048576 prefixes"
mkfifo "$full/pipe"
"$target/release/examples/dense_list" 1048576 "$entries" ordered >"$full/pipe" &
timed "$bin" --data-dir "$full" build --kind sha1 --activate --json "$full/pipe"
report=$(cat "$full/out")
corpus=$(sed 's/.*"path":"\([^"]*\)".*/\1/' <<<"$report")
setting="full size, $entries entries"
figure "$setting: build" "$wall s, $cpu s of CPU time, peak memory $(($(reported peak_memory) >> 20)) MB, $(
    awk -v b="$(reported bytes)" 'BEGIN { printf "%.1f GB", b / 1e9 }') of corpus, ranges of $(
    reported smallest_bucket) to $(reported largest_bucket) entries"
timed "$bin" verify "$corpus"
figure "$setting: verify" "$wall s, $cpu s of CPU time: $(cat "$full/out")"

export TLS_MODE=off ACCESS_LOG=off KINDS=sha1 RUST_LOG=warn
start_server "$bin" "$full"
serve() { # TITLE PREFIXES SECONDS
    local before after line
    before=$(cpu_of "$server_pid")
    line=$(PREFIXES=$2 FRESH=1 SEED=$RANDOM wrk -t1 -c64 -d"$3s" -s scripts/lib/passwords_bench.lua "$base" |
        awk '/^RESULT/ { print $2, $3, $4, $5, $6 }')
    after=$(cpu_of "$server_pid")
    figure "$setting, 64 connections: $1" "$(
        awk -v before="$before" -v after="$after" -v memory="$(memory_of "$server_pid")" '{
            printf "%.0f/s, %.1f µs of CPU time, p50 %.2f ms, p99 %.2f ms, %d MB, %d failed", $1 / ($2 / 1e6),
                (after - before) / $1 * 1e6, $3 / 1000, $4 / 1000, memory, $5 }' <<<"$line")"
}
# Drops the file from the page cache; each request is for another range.
dd if="$corpus" iflag=nocache count=0 status=none
serve "from disk, any of all" 1048576 10
# Reads the first sixteenth of the file into the cache.
head -c "$((16777216 + $(reported bytes) / 16))" "$corpus" >/dev/null
serve "from cache, any of a sixteenth" 65536 10
