# A Docker engine for scripts/images and scripts/stack; sourced by them.
#
# find_engine    uses the Docker that runs here, if it can pull images. Otherwise, as root on Debian, makes an
#                engine of its own below target/engine, with stand-ins for the images that would come from a
#                registry, and says so. Sets DOCKER_HOST and, for an own engine, own_engine=yes
# stop_engine    stops an own engine; its images stay for the next run. rm -rf target/engine removes all of it

. scripts/lib/stand-ins.sh

own_engine=no
engine=${CARGO_TARGET_DIR:-target}/engine
# Debian's release whose engine is new enough, and the packages of it.
engine_suite=trixie
engine_packages="docker.io docker-cli docker-buildx docker-compose containerd"
# What the engine takes from the system, as command:package.
engine_tools="debootstrap:debootstrap iptables:iptables runc:runc curl:curl"

find_engine() {
    if [ "${DOCKER_HOST:-}" = "unix://$(realpath -m "$engine")/socket" ]; then
        echo "The engine below $engine is used." >&2
    elif docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; then
        if docker pull --quiet busybox:1.37-musl >/dev/null 2>&1; then return; fi
        echo "Docker runs here, but cannot pull images: an engine with stand-ins is made below $engine." >&2
    else
        echo "No Docker runs here: an engine with stand-ins for the base images is made below $engine." >&2
    fi
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
        fail "no Docker that can pull images, and making one takes root on Debian"
    mkdir -p "$engine"
    engine=$(cd "$engine" && pwd)
    require_space "$engine" 20000
    install_engine
    start_engine
    make_stand_ins
}

# suite_packages SUITE FOLDER PACKAGE...   unpacks packages of another release, installing nothing
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
        fail "Debian's engine could not be had from $debian_mirror"
    mkdir -p "$engine/config"
    echo "{\"cliPluginsExtraDirs\": [\"$engine/root/usr/libexec/docker/cli-plugins\"]}" >"$engine/config/config.json"
    export PATH=$engine/root/usr/bin:$engine/root/usr/sbin:$PATH DOCKER_CONFIG=$engine/config
}

start_engine() {
    export DOCKER_HOST=unix://$engine/socket
    own_engine=yes
    # Already running, of another script.
    if docker info >/dev/null 2>&1; then
        own_engine=shared
        return
    fi
    # Its own session: an interrupt of the script is for the script, which then stops the engine in order.
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
