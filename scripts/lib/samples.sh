# Sample data of the services, and commands to try with them; sourced by scripts/up.
#
# services/NAME/try.sh defines, for one service:
#   ports[NAME]       the ports that it listens on, the main one first
#   samples_NAME      loads the samples into data/NAME once; a marker of the first run prevents a second load,
#                     which would change nothing
#   address_of_NAME   its address, and the demo key, kept in data/NAME/demo-key
#   try_NAME          a line to paste

# load_once NAME SAMPLES COMMAND...   runs the command unless these samples are loaded already
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

# The services in the order of their ports.
declare -A ports=()
for file in services/*/try.sh; do . "$file"; done
mapfile -t all < <(for name in "${!ports[@]}"; do echo "${ports[$name]} $name"; done | sort | awk '{ print $NF }')
