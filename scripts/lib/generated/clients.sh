# Clients of openapi-generator in Java, Rust and Python for all five documents, compiled; sourced by
# scripts/clients.d/generated.
#
# The documents are used unchanged. The Java generator cannot name a union that contains a list: these schemas are
# mapped to "any value".

unions="TextOrTexts OneOrSeveral_CardAnswer OneOrSeveral_CryptoAnswer OneOrSeveral_PersonAnswer VenueField
EventCreate_cost EventCreate_organizer EventCreate_venue EventUpdate_cost EventUpdate_organizer EventUpdate_venue"

# find_jdk     finds a Java compiler and the library for multipart forms; root installs Debian's. Fails without
#              them
java_mime=/usr/share/java/httpmime.jar:/usr/share/java/httpcore.jar
has_jdk() { command -v javac >/dev/null && [ -f "${java_mime%%:*}" ]; }
find_jdk() {
    has_jdk && return
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return
    apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq default-jdk-headless libhttpmime-java >&2
    has_jdk
}

# config LANGUAGE NAME MAPPINGS PROPERTY...    one entry of the generator's batch
config() {
    local language=$1 name=$2 mappings=$3 property
    shift 3
    {
        printf 'generatorName: %s\ninputSpec: %s\noutputDir: %s\n' "$language" "$PWD/services/$name/openapi.json" "$made/$language/$name"
        printf 'globalProperties: {models: "", apis: "", supportingFiles: "", modelDocs: "false", apiDocs: "false", modelTests: "false", apiTests: "false"}\n'
        printf 'schemaMappings: {%s}\n' "$mappings"
        printf 'additionalProperties:\n'
        for property in hideGenerationTimestamp=true "$@"; do printf '  %s: "%s"\n' "${property%%=*}" "${property#*=}"; done
    } >"$made/configs/$language-$name.yaml"
}

# make_clients FOLDER    generates all clients in one run
make_clients() {
    made=$1
    mkdir -p "$made/configs"
    local name
    for name in "${services[@]}"; do
        config java "$name" "$(printf '%s: Object\n' $unions | paste -sd, -)" library=native openApiNullable=false \
            "invokerPackage=$name" "apiPackage=$name.api" "modelPackage=$name.model"
        config rust "$name" "" "packageName=${name}_client" supportAsync=false
        config python "$name" "" "packageName=${name}_api"
    done
    "$(dirname "$python")/openapi-generator-cli" batch --fail-fast "$made"/configs/*.yaml >"$made/log" 2>&1 || {
        tail -40 "$made/log" >&2
        die "openapi-generator failed"
    }
}

# The generator's archive has every library that its Java clients need, except one annotation.
compile_java() {
    java_path=$(echo "$(dirname "$python")"/../lib/python*/site-packages/openapi_generator_cli/openapi-generator.jar)
    mkdir -p "$made/classes" "$made/javax/annotation"
    echo 'package javax.annotation; public @interface Generated { String[] value(); String comments() default ""; String date() default ""; }' \
        >"$made/javax/annotation/Generated.java"
    find "$made/java" -path '*/src/main/*' -name '*.java' >"$made/sources"
    javac -nowarn -proc:none -cp "$java_path:$java_mime" -d "$made/classes" "@$made/sources" "$made/javax/annotation/Generated.java" \
        scripts/lib/generated/story.java 2>"$made/javac" || { head -40 "$made/javac" >&2; die "a generated Java client does not compile"; }
}

tell_in_java() { java -cp "$made/classes:$java_path:$java_mime" Story "$@"; }

# Without TLS, which is not used here; this halves the compile time.
compile_rust() {
    mkdir -p "$made/rust/story/src"
    cp scripts/lib/generated/story.rs "$made/rust/story/src/main.rs"
    printf '[package]\nname = "story"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n' >"$made/rust/story/Cargo.toml"
    printf '[workspace]\nmembers = ["*"]\nresolver = "2"\n\n[profile.dev]\ndebug = false\n' >"$made/rust/Cargo.toml"
    local name
    for name in "${services[@]}"; do
        printf '%s_client = { path = "../%s", default-features = false }\n' "$name" "$name" >>"$made/rust/story/Cargo.toml"
    done
    CARGO_INCREMENTAL=0 RUSTFLAGS="--cap-lints allow" cargo build --quiet --manifest-path "$made/rust/Cargo.toml" \
        --target-dir "$clients/rust" || die "a generated Rust client does not compile"
}

tell_in_rust() { "$clients/rust/debug/story" "$@"; }

tell_in_python() {
    local name path=
    for name in "${services[@]}"; do path+="$made/python/$name:"; done
    PYTHONPATH=$path "$python" scripts/lib/generated/story.py "$@"
}
