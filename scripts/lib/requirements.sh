# Checks the requirements of a build; sourced by the other scripts.

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Sets cargo_flags.
require_toolchain() {
    command -v cargo >/dev/null ||
        fail "cargo is missing: install Rust (https://rustup.rs), then run this again"
    command -v cc >/dev/null ||
        fail "a C compiler is missing: install one (Debian: apt-get install build-essential)"
    command -v make >/dev/null ||
        fail "make is missing: install it (Debian: apt-get install build-essential)"
    cargo_flags=()
    if ! echo '#include <openssl/ssl.h>' | cc -E - >/dev/null 2>&1; then
        # libpq uses OpenSSL for TLS: without the system's headers, OpenSSL is built from source.
        command -v perl >/dev/null ||
            fail "neither the headers of OpenSSL nor perl to build it: install one (Debian: apt-get install libssl-dev pkg-config)"
        echo "The headers of OpenSSL are missing (Debian: libssl-dev); building OpenSSL as well, which takes some minutes." >&2
        cargo_flags=(--features database/vendored-openssl)
    fi
}

# require_space FOLDER MEGABYTES
require_space() {
    local free
    mkdir -p "$1" || fail "cannot make the folder $1"
    free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
    [ "$free" -ge "$2" ] ||
        fail "$1 has $free MB free and $2 MB are needed: free some space, or set CARGO_TARGET_DIR to another disk"
}
