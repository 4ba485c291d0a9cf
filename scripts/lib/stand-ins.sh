# Stand-ins for the images that deploy/Dockerfile and docker-compose.yml take from registries, made from
# Debian's packages and this machine's Rust toolchain; sourced by engine.sh.
#
# They have the names of the real images, so that the project's files are used unchanged. Like the machine, they
# trust /etc/ssl/certs/ca-certificates.crt.

debian_mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
stand_in_rust=$(sed -n 's/^FROM \(rust:[^ ]*\).*/\1/p' deploy/Dockerfile)
stand_in_base=$(sed -n 's/^FROM \([^ ]*distroless[^ ]*\).*/\1/p' deploy/Dockerfile)
stand_in_busybox=$(sed -n 's/.*--from=\(busybox:[^ ]*\).*/\1/p' deploy/Dockerfile)
stand_in_postgres=$(sed -n 's/^ *image: \(postgres:[^ ]*\).*/\1/p' docker-compose.yml)

make_stand_ins() {
    local name
    for name in rust base busybox postgres; do
        local -n image=stand_in_$name
        if ! docker image inspect "$image" >/dev/null 2>&1; then
            echo "Making a stand-in for $image ..." >&2
            rm -rf "$engine/rootfs"
            mkdir -p "$engine/rootfs"
            "stand_in_for_$name" "$engine/rootfs" "$image" || fail "no stand-in for $image could be made; see $engine/debootstrap.log"
            rm -rf "$engine/rootfs"
        fi
        unset -n image
    done
}

# import FOLDER IMAGE [CHANGE...]
import() {
    local folder=$1 image=$2 change options=()
    shift 2
    for change in "$@"; do options+=(--change "$change"); done
    tar -C "$folder" -c . | docker import "${options[@]}" - "$image" >/dev/null
}

# bootstrap SUITE FOLDER PACKAGES
bootstrap() {
    debootstrap --variant=minbase --include="$3" "$1" "$2" "$debian_mirror" >"$engine/debootstrap.log" 2>&1 &&
        rm -rf "$2"/var/cache/apt/archives/*.deb &&
        cp /etc/ssl/certs/ca-certificates.crt "$2/etc/ssl/certs/ca-certificates.crt"
}

# Debian 12 with a C compiler and rustup's toolchain of this machine.
stand_in_for_rust() {
    local folder=$1 sysroot
    bootstrap bookworm "$folder" ca-certificates,gcc,libc6-dev || return
    sysroot=$(rustc --print sysroot)
    mkdir -p "$folder/usr/local/rust" "$folder/usr/local/cargo/bin"
    local part
    for part in bin lib libexec; do
        [ ! -d "$sysroot/$part" ] || cp -a "$(readlink -f "$sysroot/$part")" "$folder/usr/local/rust/$part"
    done
    import "$folder" "$2" "ENV PATH=/usr/local/cargo/bin:/usr/local/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        "ENV CARGO_HOME=/usr/local/cargo"
}

# glibc, libgcc, CA certificates, time zones and the user 65532.
stand_in_for_base() {
    local folder=$1 file
    mkdir -p "$folder"/{etc/ssl/certs,lib/x86_64-linux-gnu,lib64,tmp,home/nonroot,usr/share,var/lib}
    for file in libc libm libgcc_s libpthread libdl librt libresolv libnss_dns libnss_files; do
        cp -L /lib/"$(uname -m)"-linux-gnu/$file.so.* "$folder/lib/x86_64-linux-gnu/" || return
    done
    cp -L /lib64/ld-linux-x86-64.so.2 "$folder/lib64/" && cp -L /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/" || return
    [ ! -d /usr/share/zoneinfo ] || cp -a /usr/share/zoneinfo "$folder/usr/share/"
    printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$folder/etc/passwd"
    printf 'root:x:0:\nnonroot:x:65532:\n' >"$folder/etc/group"
    echo 'hosts: files dns' >"$folder/etc/nsswitch.conf"
    chmod 1777 "$folder/tmp"
    chown 65532:65532 "$folder/home/nonroot"
    import "$folder" "$2" "USER 65532" "WORKDIR /home/nonroot" \
        "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        "ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"
}

# Debian's static busybox, linked with glibc instead of musl.
stand_in_for_busybox() {
    suite_packages bookworm "$1/unpacked" busybox-static || return
    mkdir -p "$1/root/bin"
    mv "$(find "$1/unpacked" -type f -name busybox -perm -u+x)" "$1/root/bin/busybox"
    import "$1/root" "$2"
}

# PostgreSQL of the same major version, and the part of the image's entry point that compose uses.
stand_in_for_postgres() {
    local folder=$1 major
    major=$(sed 's/^postgres:\([0-9]*\).*/\1/' <<<"$2")
    # The image's group and user, which Debian's packages reuse.
    bootstrap trixie "$folder" "ca-certificates,postgresql-common" || return
    chroot "$folder" sh -euc "
        groupmod --gid 999 postgres && usermod --uid 999 --gid 999 postgres
        echo 'create_main_cluster = false' >>/etc/postgresql-common/createcluster.conf
        export DEBIAN_FRONTEND=noninteractive
        apt-get update && apt-get install --yes --no-install-recommends postgresql-$major
        apt-get clean && rm -rf /var/lib/apt/lists/*
        mkdir -p /var/lib/postgresql/data && chown -R 999:999 /var/lib/postgresql /var/run/postgresql
        chmod 1777 /var/lib/postgresql/data" >>"$engine/debootstrap.log" 2>&1 || return
    install -m 755 scripts/lib/stand-in-postgres.sh "$folder/usr/local/bin/docker-entrypoint.sh"
    import "$folder" "$2" "ENV PATH=/usr/lib/postgresql/$major/bin:/usr/local/bin:/usr/bin:/bin" \
        "ENV PGDATA=/var/lib/postgresql/data" "VOLUME /var/lib/postgresql/data" "STOPSIGNAL SIGINT" \
        'ENTRYPOINT ["docker-entrypoint.sh"]' 'CMD ["postgres"]'
}
