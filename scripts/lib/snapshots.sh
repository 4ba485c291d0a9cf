# Finds snapshots that no test uses; sourced by scripts/test.
#
# record_snapshots                makes insta record every snapshot that a test reads, and fail instead
#                                 of writing new ones
# reject_unreferenced_snapshots   fails with the names of those that no test read
#
# `cargo insta test --unreferenced reject` does the same for a single pass; here a snapshot may belong to either
# database.

record_snapshots() {
    INSTA_SNAPSHOT_REFERENCES_FILE=$(mktemp "${TMPDIR:-/tmp}/quintet-snapshots.XXXXXX")
    export INSTA_SNAPSHOT_REFERENCES_FILE INSTA_UPDATE=no
}

reject_unreferenced_snapshots() {
    local unused
    unused=$(comm -23 \
        <(find "$PWD/crates" "$PWD/services" -name '*.snap' -not -path '*/target/*' | sort) \
        <(xargs -r -d '\n' realpath -m <"$INSTA_SNAPSHOT_REFERENCES_FILE" | sort -u))
    rm -f "$INSTA_SNAPSHOT_REFERENCES_FILE"
    [ -z "$unused" ] || {
        printf 'No test refers to these snapshots; delete them:\n%s\n' "$unused" >&2
        return 1
    }
}
