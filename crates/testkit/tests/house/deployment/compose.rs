//! Checks `docker-compose.yml` and `.env.example`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Ports, SERVICES, has_database, list, read, settings, text, yaml};

fn compose() -> Value {
    let mut documents = yaml("docker-compose.yml", &read("docker-compose.yml"));
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

fn containers(compose: &Value) -> &Map<String, Value> {
    compose["services"].as_object().unwrap()
}

/// Returns the service that a container belongs to, such as `calendar` for `calendar-migrate`.
fn owner(container: &str) -> &'static str {
    let name = container.split('-').next().unwrap();
    SERVICES
        .iter()
        .copied()
        .find(|service| *service == name)
        .unwrap_or_else(|| panic!("{container}"))
}

fn runs_once(container: &Value) -> bool {
    container["restart"] == "no"
}

#[test]
fn every_container_is_locked_down_and_limited() {
    let compose = compose();
    for (name, container) in containers(&compose) {
        assert_eq!(container["read_only"], true, "{name}");
        assert_eq!(list(&container["cap_drop"]), ["ALL"], "{name}");
        assert_eq!(container["cap_add"], Value::Null, "{name}");
        assert_eq!(container["privileged"], Value::Null, "{name}");
        assert_eq!(list(&container["security_opt"]), ["no-new-privileges:true"], "{name}");
        assert!(!text(&container["mem_limit"]).is_empty(), "{name} has no memory limit");
    }
}

#[test]
fn every_server_has_a_health_check_and_every_command_has_none() {
    let compose = compose();
    for (name, container) in containers(&compose) {
        if runs_once(container) {
            assert_eq!(container["healthcheck"]["disable"], true, "{name}");
            assert!(!list(&container["command"]).is_empty(), "{name}");
        } else {
            assert_eq!(container["restart"], "unless-stopped", "{name}");
            let test = list(&container["healthcheck"]["test"]);
            assert!(test.len() > 1, "{name}");
            if SERVICES.contains(&name.as_str()) {
                assert_eq!(test, ["CMD", "/service", "healthcheck"], "{name}");
            }
        }
    }
}

/// On the first start, the image runs a temporary server that only listens on its Unix socket. If
/// this server counted as healthy, the migration would start and fail to connect.
#[test]
fn a_database_is_healthy_only_once_it_accepts_tcp_connections() {
    let compose = compose();
    let databases: Vec<_> =
        containers(&compose).iter().filter(|(name, _)| name.ends_with("-db")).collect();
    assert!(!databases.is_empty());
    for (name, container) in databases {
        let test = text(&container["healthcheck"]["test"][1]);
        assert!(test.contains("pg_isready") && test.contains("--host="), "{name}: {test}");
    }
}

/// Without mail, users of breaches cannot sign in.
#[test]
fn breaches_can_be_given_a_mail_server() {
    let compose = compose();
    let environment = containers(&compose)["breaches"]["environment"].as_object().unwrap();
    let example = read(".env.example");
    for name in ["SMTP_URL", "MAIL_FROM"] {
        assert!(environment.contains_key(name), "breaches does not get {name}");
        assert!(example.contains(&format!("\n#{name}=\n")), "{name}");
    }
}

#[test]
fn one_service_starts_only_its_own_database() {
    let compose = compose();
    let containers = containers(&compose);
    for &service in SERVICES.iter() {
        let mut found = BTreeSet::new();
        let mut open = vec![service.to_owned()];
        while let Some(name) = open.pop() {
            if let Some(needs) = containers[&name]["depends_on"].as_object() {
                open.extend(needs.keys().cloned());
            }
            assert_eq!(owner(&name), service, "{service} pulls {name} up");
            found.insert(name);
        }
        let expected: BTreeSet<String> = if has_database(service) {
            ["", "-migrate", "-db"].map(|part| format!("{service}{part}")).into()
        } else {
            [service.to_owned()].into()
        };
        assert_eq!(found, expected);
        if has_database(service) {
            let migrated = &containers[service]["depends_on"][format!("{service}-migrate")];
            assert_eq!(migrated["condition"], "service_completed_successfully");
            let migrate = &containers[&format!("{service}-migrate")];
            assert_eq!(list(&migrate["command"]), ["migrate"]);
            let ready = &migrate["depends_on"][format!("{service}-db")];
            assert_eq!(ready["condition"], "service_healthy");
        }
    }
}

#[test]
fn samples_are_loaded_only_on_request() {
    let compose = compose();
    for (name, container) in containers(&compose) {
        let expected: &[&str] = if name.contains("-samples") { &["samples"] } else { &[] };
        assert_eq!(list(&container["profiles"]), expected, "{name}");
    }
}

#[test]
fn sample_files_exist() {
    let compose = compose();
    for (name, container) in
        containers(&compose).iter().filter(|(name, _)| name.contains("-samples"))
    {
        let mounted = list(&container["volumes"]).iter().any(|v| v == "./samples:/samples:ro");
        let command = list(&container["command"]).iter().map(text).collect::<Vec<_>>().join(" ");
        let files = command
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("/samples/"))
            .map(|file| format!("samples/{file}"))
            .collect::<Vec<_>>();
        assert!(!files.is_empty(), "{name} loads nothing");
        for file in files {
            assert!(mounted, "{name} has no samples");
            assert!(super::root().join(&file).exists(), "{name}: {file} is missing");
        }
    }
}

#[test]
fn environments_hold_only_settings() {
    let compose = compose();
    for (name, container) in containers(&compose) {
        let environment: BTreeMap<String, Option<String>> = container["environment"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.as_str().map(str::to_owned)))
            .collect();
        if name.ends_with("-db") {
            let names: Vec<_> = environment.keys().map(String::as_str).collect();
            assert_eq!(names, ["POSTGRES_DB", "POSTGRES_PASSWORD", "POSTGRES_USER"], "{name}");
            continue;
        }
        let service = owner(name);
        settings::check("docker-compose.yml", service, &environment);
        let url = environment.get("DATABASE_URL").cloned().flatten().unwrap_or_default();
        assert_eq!(!url.is_empty(), has_database(service), "{name}");
        if has_database(service) {
            let (user, rest) = url.strip_prefix("postgres://").unwrap().split_once(':').unwrap();
            assert_eq!(user, service);
            assert!(rest.ends_with(&format!("@{service}-db:5432/{service}")), "{url}");
        }
    }
}

#[test]
fn images_and_published_ports_match_the_service() {
    let compose = compose();
    for (name, container) in containers(&compose) {
        if name.ends_with("-db") {
            assert!(text(&container["image"]).starts_with("postgres:"), "{name}");
            assert_eq!(container["ports"], Value::Null, "{name}");
            continue;
        }
        let service = owner(name);
        // A command with several steps needs the image that contains a shell.
        let debug = if container["build"]["target"] == "debug" { "-debug" } else { "" };
        assert_eq!(debug.is_empty(), container["entrypoint"].is_null(), "{name}");
        assert_eq!(
            container["image"],
            format!("quintet/{service}:${{QUINTET_TAG:-dev}}{debug}"),
            "{name}"
        );
        assert_eq!(container["build"]["args"]["SERVICE"], service, "{name}");
        assert_eq!(container["build"]["dockerfile"], "deploy/Dockerfile", "{name}");
        let published: Vec<_> = list(&container["ports"]).iter().map(text).collect();
        let Ports { http, https, .. } = Ports::of(service);
        let expected: Vec<_> = match (name == service, service) {
            (false, _) => vec![],
            (true, "breaches" | "passwords") => vec![http, https],
            (true, _) => vec![http],
        };
        let expected: Vec<_> = expected
            .iter()
            .map(|port| format!("${{QUINTET_ADDRESS:-127.0.0.1}}:{port}:{port}"))
            .collect();
        assert_eq!(published, expected, "{name}");
    }
}

#[test]
fn volumes_are_declared_and_belong_to_one_service() {
    let compose = compose();
    let declared: BTreeSet<_> = compose["volumes"].as_object().unwrap().keys().cloned().collect();
    let mut used = BTreeSet::new();
    for (name, container) in containers(&compose) {
        for volume in list(&container["volumes"]) {
            let source = text(volume).split(':').next().unwrap();
            if !source.starts_with("./") {
                assert_eq!(owner(source), owner(name), "{name} mounts {source}");
                used.insert(source.to_owned());
            }
        }
    }
    assert_eq!(declared, used);
}

#[test]
fn the_password_server_only_reads_its_corpus() {
    let compose = compose();
    let containers = containers(&compose);
    let volumes = list(&containers["passwords"]["volumes"]);
    assert!(volumes.contains(&Value::from("passwords-corpus:/data:ro")), "{volumes:?}");
    let writers: Vec<_> = containers
        .iter()
        .filter(|(_, c)| list(&c["volumes"]).contains(&Value::from("passwords-corpus:/data")))
        .collect();
    assert!(!writers.is_empty() && writers.iter().all(|(_, container)| runs_once(container)));
}

/// Returns the `${NAME:-default}` placeholders in a string. A bare setting such as `ADMIN_KEY:`
/// does not contain any.
fn placeholders(text: &str) -> BTreeMap<String, String> {
    text.split("${")
        .skip(1)
        .map(|rest| {
            let (name, default) = rest.split_once('}').unwrap().0.split_once(":-").unwrap();
            (name.to_owned(), default.to_owned())
        })
        .collect()
}

#[test]
fn the_example_environment_lists_every_variable_with_its_default() {
    let source = read("docker-compose.yml");
    let listed: BTreeMap<String, String> = read(".env.example")
        .lines()
        .map(|line| line.strip_prefix('#').unwrap_or(line))
        .filter_map(|line| line.split_once('='))
        .filter(|(name, _)| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut expected = placeholders(&source);
    let compose = compose();
    for container in containers(&compose).values() {
        let settings = [&container["environment"], &container["build"]["args"]];
        for (name, value) in settings.into_iter().filter_map(Value::as_object).flatten() {
            if value.is_null() {
                expected.insert(name.clone(), String::new());
            }
        }
    }
    let names: BTreeSet<&String> = listed.keys().chain(expected.keys()).collect();
    let differing = names.into_iter().filter(|name| listed.get(*name) != expected.get(*name));
    let offences: Vec<String> = differing
        .map(|name| format!("{name}: {:?} and {:?}", listed.get(name), expected.get(name)))
        .collect();
    assert!(offences.is_empty(), ".env.example and docker-compose.yml differ in {offences:#?}");
}

#[test]
fn every_sample_is_loaded_by_compose_and_by_scripts_up() {
    let compose = read("docker-compose.yml");
    let try_out: String =
        SERVICES.iter().map(|service| read(format!("services/{service}/try.sh"))).collect();
    let mut found = 0;
    for extension in ["txt", "csv", "json", "ndjson", "xml"] {
        for path in super::files(&super::root().join("samples"), extension) {
            let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            let file = path.file_name().unwrap().to_str().unwrap();
            // The scripts refer to each file of breaches by name, but load whole folders of
            // listings.
            let stem = if folder == "buckets" { &folder } else { file.split('.').next().unwrap() };
            assert!(compose.contains(stem), "docker-compose.yml does not load {file}");
            assert!(try_out.contains(stem), "no services/NAME/try.sh loads {file}");
            found += 1;
        }
    }
    assert!(found > 10, "{found} samples");
}
