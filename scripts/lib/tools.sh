# Tools of scripts/test in pinned versions, built once from crates.io; sourced.
#
# install_tool PACKAGE VERSION [OPTION...]   builds a tool into target/tools unless this version is there
# run_tool PROGRAM ARGUMENT...               runs a tool
#
# They are built without optimisation, because they only run for seconds. Tools in PATH are not used,
# because other versions may report different results.

# Also of scripts/advisories.
deny_version=0.20.2

tools_folder=${CARGO_TARGET_DIR:-target}/tools

install_tool() {
    if grep -qs "\"$1 $2 " "$tools_folder/.crates.toml"; then return; fi
    local package=$1 version=$2
    shift 2
    echo "Building $package $version (once) ..." >&2
    CARGO_TARGET_DIR=$tools_folder/build CARGO_PROFILE_RELEASE_OPT_LEVEL=0 \
        CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        CARGO_PROFILE_RELEASE_DEBUG=false \
        cargo install --quiet --locked --root "$tools_folder" --version "$version" "$@" "$package"
}

run_tool() {
    local program=$1
    shift
    PATH="$(cd "$tools_folder/bin" && pwd):$PATH" "$program" "$@"
}
