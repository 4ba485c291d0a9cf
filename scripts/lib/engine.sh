# A Docker engine for scripts/images and scripts/stack; sourced by them.
#
# find_engine    uses the running Docker if it can pull images. Otherwise, as root on Debian, sets up an engine
#                below target/engine with stand-ins for the images of a registry, and says so. Sets
#                DOCKER_HOST and, for its own engine, own_engine=yes
# stop_engine    stops its own engine and keeps the images for the next run; rm -rf target/engine removes all of it

. scripts/lib/stand-ins.sh

own_engine=no
engine=${CARGO_TARGET_DIR:-target}/engine
# The Debian release with a recent enough engine, and the packages taken from it.
engine_suite=trixie
engine_packages="docker.io docker-cli docker-buildx docker-compose containerd"
# Programs that the engine needs from the system, as command:package.
engine_tools="debootstrap:debootstrap iptables:iptables runc:runc curl:curl"

find_engine() {
    if [ "${DOCKER_HOST:-}" = "unix://$(realpath -m "$engine")/socket" ]; then
        echo "Using the engine below $engine." >&2
    elif docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; then
        if docker pull --quiet busybox:1.37-musl >/dev/null 2>&1; then return; fi
        echo "Docker cannot pull images here: setting up an engine with stand-ins below $engine." >&2
    else
        echo "Docker is not running: setting up an engine with stand-ins for the base images below $engine." >&2
    fi
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
        fail "Docker cannot pull images here, and setting up an engine needs root on Debian"
    mkdir -p "$engine"
    engine=$(cd "$engine" && pwd)
    require_space "$engine" 20000
    install_engine
    start_engine
    make_stand_ins
}

# suite_packages SUITE FOLDER PACKAGE...   unpacks packages of another release without installing them
suite_packages() {
    local suite=$1 folder=$2 lists=$engine/apt/$1
    shift 2
    mkdir -p "$lists/state/lists/partial" "$lists/cache/archives/partial" "$lists/deb" "$folder"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $debian_mirror $suite main" >"$lists/sources.list"
    local options=(-qq -o Dir::Etc::SourceList="$lists/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists="$lists/state/lists" -o Dir::Cache="$lists/cache" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >&2
    (cd "$lists/deb" && apt-get "${options[@]}" download "$@" >&2)
    local file
    for file in "$lists"/deb/*.deb; do dpkg-deb -x "$file" "$folder"; done
    rm -rf "$lists"
}

install_engine() {
    local tool missing=()
    export PATH=$PATH:/usr/sbin:/sbin
    for tool in $engine_tools; do
        command -v "${tool%%:*}" >/dev/null || missing+=("${tool#*:}")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        echo "Installing Debian's packages ${missing[*]} ..." >&2
        apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >&2 ||
            fail "these packages could not be installed: ${missing[*]}"
    fi
    # shellcheck disable=SC2086
    [ -x "$engine/root/usr/sbin/dockerd" ] || suite_packages "$engine_suite" "$engine/root" $engine_packages ||
        fail "Debian's engine could not be downloaded from $debian_mirror"
    mkdir -p "$engine/config"
    echo "{\"cliPluginsExtraDirs\": [\"$engine/root/usr/libexec/docker/cli-plugins\"]}" >"$engine/config/config.json"
    export PATH=$engine/root/usr/bin:$engine/root/usr/sbin:$PATH DOCKER_CONFIG=$engine/config
}

start_engine() {
    export DOCKER_HOST=unix://$engine/socket
    own_engine=yes
    # Another script started it.
    if docker info >/dev/null 2>&1; then
        own_engine=shared
        return
    fi
    # A separate session, so that Ctrl-C reaches only the script, which then stops the engine.
    setsid dockerd --data-root "$engine/data" --exec-root "$engine/run" --pidfile "$engine/pid" \
        --host "$DOCKER_HOST" --containerd "" >"$engine/log" 2>&1 &
    local try
    for try in $(seq 120); do
        ! docker info >/dev/null 2>&1 || return 0
        sleep 0.5
    done
    tail -20 "$engine/log" >&2
    fail "the engine does not start"
}

stop_engine() {
    [ "$own_engine" = yes ] && [ -s "$engine/pid" ] || return 0
    local pid
    pid=$(cat "$engine/pid")
    kill "$pid" 2>/dev/null || return 0
    while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
}
