# Functions to measure commands and to record their figures; sourced by scripts/bench.d.

# figure CASE FIGURE: prints a figure. If scripts/bench runs the bench, it also becomes a row of docs/figures/NAME.md,
# in place of the last row of this case
figure() {
    printf '%s: %s\n' "$1" "$2"
    [ -z "${FIGURES:-}" ] || printf '%s\t%s\n' "$1" "$2" >>"$FIGURES"
}

# must CASE FIGURE LIMIT [least]: prints and records whether a figure is at most, or at least, its limit. Text counts as
# missed
must() {
    figure "$1" "$(awk -v figure="$2" -v limit="$3" -v bound="${4:-most}" 'BEGIN {
        met = figure ~ /^[0-9.]+$/ && (bound == "least" ? figure >= limit : figure <= limit)
        printf "%s, must be at %s %s: %s\n", figure, bound, limit, met ? "met" : "MISSED" }')"
}

# measured COMMAND...: runs the command and prints CPU seconds, wall seconds and peak memory in MiB
measured() {
    python3 - "$@" <<'PY'
import resource, subprocess, sys, time

begin = time.time()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.2f} {time.time() - begin:.2f} {used.ru_maxrss / 1024:.0f}")
PY
}
