# Functions to measure commands and look-ups of breaches; sourced by scripts/bench.d/breaches and scripts/bench.d/citus.
#
# The caller sets bin to the program and work to a folder with catalogue.json.

. scripts/lib/figures.sh

# catalogue_entry NAME [IS_STEALER_LOG]: prints a catalogue entry
catalogue_entry() {
    printf '{"Name": "%s", "Title": "%s", "BreachDate": "2020-01-01", "AddedDate": "2020-01-01T00:00:00Z", "IsStealerLog": %s}\n' \
        "$1" "$1" "${2:-false}"
}

# prepare DATA: imports the catalogue, adds a subscriber with a plan, and prints the key
prepare() {
    "$bin" --data-dir "$1" catalogue import "$work/catalogue.json" >/dev/null 2>&1
    "$bin" --data-dir "$1" subscriber add bench@example.com --if-missing >/dev/null 2>&1
    "$bin" --data-dir "$1" plans set bench --family pro --kanon true --per-minute 10000000 2>/dev/null
    "$bin" --data-dir "$1" subscription set bench@example.com --plan bench --until 2099-01-01 >/dev/null
    "$bin" --data-dir "$1" keys issue bench@example.com 2>/dev/null
}

# load_figures POSTMASTERS COMMAND...: runs the command and prints its CPU seconds, the bytes passed to write calls, the
# CPU seconds of the PostgreSQL servers with these postmaster ids (comma-separated; 0: no server), and the elapsed
# seconds
load_figures() {
    python3 - "$@" <<'PY'
import os, subprocess, sys, tempfile, time

TICKS = os.sysconf("SC_CLK_TCK")

def seconds(pid, fields):
    try:
        with open(f"/proc/{pid}/stat") as file:
            values = file.read().rsplit(") ", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0  # It ended after pgrep listed it. Its time is counted with its parent's.
    return sum(int(values[field]) for field in fields) / TICKS

def server(postmaster):
    if postmaster == "0":
        return 0.0
    children = subprocess.run(["pgrep", "-P", postmaster], capture_output=True, text=True).stdout.split()
    # The time of the running children, of the postmaster, and of its reaped children.
    return sum(seconds(child, (11, 12)) for child in children) + seconds(postmaster, (11, 12, 13, 14))

postmasters = sys.argv[1].split(",")
before = sum(map(server, postmasters))
begin = time.monotonic()
errors = tempfile.TemporaryFile()
child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=errors)
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
wall = time.monotonic() - begin
with open(f"/proc/{child.pid}/io") as file:
    counted = dict(line.split(": ") for line in file.read().splitlines())
_, status, used = os.wait4(child.pid, 0)
if status:
    errors.seek(0)
    sys.exit(f"failed: {sys.argv[2:]}: {errors.read().decode(errors='replace')}")
servers = sum(map(server, postmasters)) - before
print(f"{used.ru_utime + used.ru_stime:.2f} {counted['wchar']} {servers:.2f} {wall:.3f}")
PY
}

# look_up URL KEY PATHS CONNECTIONS SECONDS: requests random paths and prints the number of requests, the duration in
# µs, p50 and p99 in µs, and the number of failures
look_up() {
    KEY=$2 PATHS=$3 wrk -t1 -c"$4" -d"$5s" -s scripts/lib/breaches_bench.lua "$1" |
        awk '/^RESULT/ { print $2, $3, $4, $5, $6 }'
}
