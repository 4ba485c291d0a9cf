# promtool, which checks the rules of deploy/monitoring; sourced by scripts/test.
#
# find_promtool NAME   stores its path in the variable; fails if it cannot be found or downloaded
#
# It is taken from PATH, or from the Debian package `prometheus`, which is unpacked into target/tools without
# installing it, so that no server starts.

find_promtool() {
    local -n found=$1
    local folder=${CARGO_TARGET_DIR:-target}/tools/promtool
    if found=$(command -v promtool); then return; fi
    found=$folder/usr/bin/promtool
    if [ -x "$found" ]; then return; fi
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    rm -rf "$folder" && mkdir -p "$folder"
    (cd "$folder" && apt-get download prometheus >/dev/null 2>&1 && dpkg-deb -x prometheus_*.deb . &&
        rm prometheus_*.deb) || return 1
    [ -x "$found" ]
}
