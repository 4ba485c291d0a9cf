//! Checks the Dockerfile.

use super::{Ports, SERVICES, read};

fn dockerfile() -> String {
    read("deploy/Dockerfile").replace("\\\n", " ")
}

/// Returns the lines of the stage with this name.
fn stage<'a>(dockerfile: &'a str, name: &str) -> Vec<&'a str> {
    dockerfile
        .lines()
        .skip_while(|line| !(line.starts_with("FROM ") && line.ends_with(&format!(" AS {name}"))))
        .skip(1)
        .take_while(|line| !line.starts_with("FROM "))
        .collect()
}

#[test]
fn each_image_listens_on_the_ports_of_its_service() {
    let dockerfile = dockerfile();
    for &service in SERVICES.iter() {
        let Ports { http, https, admin } = Ports::of(service);
        let lines = stage(&dockerfile, service);
        let listen =
            format!("ENV BIND=0.0.0.0:{http} TLS_BIND=0.0.0.0:{https} ADMIN_BIND=0.0.0.0:{admin}");
        assert!(lines.contains(&listen.as_str()), "{service}: {lines:?}");
        assert!(lines.contains(&format!("EXPOSE {http} {https} {admin}").as_str()), "{service}");
    }
}

#[test]
fn compiler_of_the_image_matches_the_repository() {
    let toolchain = read("rust-toolchain.toml");
    let version = toolchain.split('"').nth(1).unwrap();
    let dockerfile = dockerfile();
    assert!(dockerfile.contains(&format!("FROM rust:{version}-slim-bookworm AS chef")));
    assert!(dockerfile.contains(&format!("RUSTUP_TOOLCHAIN={version} ")));
}

/// The image runs as root, so that `scripts/test` can install servers. Its cargo registry is not in
/// the home folder.
#[test]
fn workflows_run_in_the_image_of_the_compiler_and_cache_its_registry() {
    let toolchain = read("rust-toolchain.toml");
    let image = format!("    container: rust:{}-bookworm\n", toolchain.split('"').nth(1).unwrap());
    for host in [".github", ".forgejo"] {
        let workflow = read(format!("{host}/workflows/check.yml"));
        let (job, _) = workflow.split_once("\n  portable:\n").unwrap();
        assert!(job.contains("- run: scripts/test\n") && job.contains(&image), "{host}");
        assert!(job.contains("\n            /usr/local/cargo/registry\n"), "{host}");
        assert!(job.contains("python3-venv"), "{host}: scripts/clients needs it");
    }
}

#[test]
fn every_setting_of_the_image_is_one_of_the_services() {
    let dockerfile = dockerfile();
    for &service in SERVICES.iter() {
        let known = super::settings::of(service);
        for part in [service, "service"] {
            let names = stage(&dockerfile, part)
                .into_iter()
                .filter_map(|line| line.strip_prefix("ENV "))
                .flat_map(str::split_whitespace)
                .map(|pair| pair.split_once('=').unwrap().0);
            for name in names {
                assert!(known.contains(name), "{service} has no setting {name}");
            }
        }
    }
}

#[test]
fn the_image_runs_unprivileged_and_checks_its_own_health() {
    let dockerfile = dockerfile();
    let lines = stage(&dockerfile, "service");
    let user = lines.iter().rfind(|line| line.starts_with("USER "));
    assert_eq!(user, Some(&"USER 65532:65532"));
    let health = lines.iter().find(|line| line.starts_with("HEALTHCHECK ")).unwrap();
    assert!(health.ends_with(r#"CMD ["/service", "healthcheck"]"#), "{health}");
    let user = stage(&dockerfile, "debug").into_iter().rfind(|line| line.starts_with("USER "));
    assert_eq!(user, Some("USER 65532:65532"));
    assert!(dockerfile.trim_end().ends_with("FROM service"), "the debug image is not the default");
}

#[test]
fn the_binary_needs_no_openssl_of_the_system() {
    let manifest = read("crates/database/Cargo.toml");
    assert!(manifest.contains(r#"vendored-openssl = ["openssl-sys/vendored"]"#));
    let dockerfile = dockerfile();
    assert!(dockerfile.contains("ARG PROFILE=release\n"), "the profile that is not asked for");
    for command in ["cargo chef cook --profile ${PROFILE}", "cargo build --profile ${PROFILE}"] {
        let line = dockerfile.lines().find(|line| line.contains(command)).unwrap();
        assert!(!line.contains("--workspace"), "the fuzz targets are built too: {line}");
        assert!(line.contains("--features database/vendored-openssl"), "{line}");
    }
}
