//! The subcommands.

use std::fs::File;
use std::net::TcpListener;

use serde_json::json;
use testkit::{Database, Exchange, Program, TcpProxy, until};

use crate::app::App;

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_generator"))
}

#[test]
fn migrate_prints_the_applied_versions() {
    let program = program().with_database();
    assert_eq!(program.json(&["migrate"]).as_array().unwrap().len(), 2);
    assert_eq!(program.done(&["migrate"]), "");
}

#[test]
fn generated_values_pass_the_check_command() {
    let program = program();
    let values = program.done(&["make", "iban", "DE", "-n", "3", "--seed", "demo"]);
    let checked = program.pipe(&["check", "iban", "DE"], values.as_bytes());
    assert_eq!((checked.code, checked.out.as_str()), (Some(0), "ok\nok\nok\n"));
    let checked = program.pipe(&["check", "iban"], b"DE00\n");
    let verdict = "An IBAN from DE has 22 characters, not 4.\n";
    assert_eq!((checked.code, checked.out.as_str()), (Some(1), verdict));
}

#[test]
fn telephone_checks_of_all_regions_use_little_memory() {
    let program = program();
    let regions = include_str!("../../data/phones.tsv").lines();
    let numbers: String = regions
        .filter_map(|line| line.split('\t').next())
        .map(|region| program.done(&["make", "phone", region, "-n", "2"]))
        .collect();
    let path = program.folder().write("numbers", &numbers);
    let mut command = program.command(&["check", "phone"]);
    command.stdin(File::open(path).unwrap());
    let checked = program.run_command(command);
    assert_eq!(checked.code, Some(0), "{}", checked.out);
    assert!(checked.out.lines().count() > 400);
    // An earlier version, which cached regular expressions, used 315 MiB.
    assert!((1..120).contains(&checked.peak_mib), "{} MiB", checked.peak_mib);
}

#[actix_web::test]
async fn make_prints_the_values_of_the_operation() {
    let app = App::start().await;
    let program = program();
    for (subject, path) in [
        (&["iban", "DE"][..], "/api/Finance/Iban/DE?quantity=3"),
        (&["phone", "FR"], "/api/Phone/Generate?CountryCode=FR&Quantity=3"),
        (&["imei"], "/api/Phone/IMEI?Quantity=3"),
        (&["name"], "/api/Name?nameType=fullname&quantity=3"),
        (&["ssn"], "/api/SocialNumber?quantity=3"),
        (&["person", "SE"], "/api/SocialNumber?country=SE&quantity=3"),
        (&["vat", "IT"], "/api/SocialNumber?country=IT&idType=VAT&quantity=3"),
    ] {
        let arguments = [&["make"], subject, &["-n", "3", "--seed", "demo"]].concat();
        let made: Vec<String> = program.done(&arguments).lines().map(str::to_owned).collect();
        assert_eq!(json!(made), app.ok(&format!("{path}&seed=demo")).await, "{path}");
    }
    for (subject, path, member) in [
        (&["card", "Visa"][..], "/api/Card?type=Visa", "cardNumber"),
        (&["card"], "/api/Card?type=", "cardNumber"),
        (&["crypto", "ETH"], "/api/Finance/CryptoAddress?cryptoType=ETH", "address"),
    ] {
        let arguments = [&["make"], subject, &["-n", "3", "--seed", "demo"]].concat();
        let made: Vec<String> = program.done(&arguments).lines().map(str::to_owned).collect();
        let answer = app.ok(&format!("{path}&quantity=3&seed=demo")).await;
        let values: Vec<_> = answer.as_array().unwrap().iter().map(|one| &one[member]).collect();
        assert_eq!(json!(made), json!(values), "{path}");
    }
}

#[actix_web::test]
async fn make_prints_the_tables_of_the_operations_in_every_format() {
    let app = App::start().await;
    let program = program();
    let make = |subject: &str, culture: &str, rest: &[&str]| {
        let first = ["make", subject, culture, "-n", "3", "--seed", "demo"];
        program.done(&[&first, rest].concat())
    };
    let people = app.ok("/api/Person?culture=ja&quantity=5&seed=demo").await;
    let expected = json!(people.as_array().unwrap()[2..]);
    let part: serde_json::Value =
        serde_json::from_str(&make("persons", "ja", &["--offset", "2", "--format", "json"]))
            .unwrap();
    assert_eq!(part, expected);
    let lines = make("persons", "ja", &["--offset", "2"]);
    let lines = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    assert_eq!(json!(lines.collect::<Vec<_>>()), expected);
    let request = app.server.get("/api/Person?culture=ja&quantity=3&seed=demo");
    let table = request.header("accept", "text/csv").answer().await.expect(200);
    assert_eq!(make("persons", "ja", &["--format", "csv"]), table.text());
    let addresses = app.ok("/api/Misc/Random-Address?number=3&culture=de&seed=demo").await;
    let lines: Vec<_> = make("addresses", "de", &[]).lines().map(str::to_owned).collect();
    assert_eq!(json!(lines), addresses);
    let path = "/api/Name/BusinessName?number=3&cultureCode=fr&seed=demo";
    let names = app.server.post(path).answer().await.expect(200).json();
    let sql = make("businesses", "fr", &["--format", "sql"]);
    for (line, name) in sql.lines().zip(names.as_array().unwrap()) {
        let name = name.as_str().unwrap().replace('\'', "''");
        assert_eq!(line, format!("INSERT INTO businesses (\"name\") VALUES ('{name}');"));
    }
    let texts = program.done(&["make", "texts", "-n", "3"]);
    assert!(texts.lines().count() == 3 && texts.starts_with("Lorem ipsum"), "{texts}");
}

#[test]
fn keys_are_issued_before_the_first_start() {
    let program = program().with_database();
    assert!(!program.done(&["keys", "issue", "alice"]).trim().is_empty());
    assert!(program.done(&["keys", "list"]).contains("alice"));
}

#[test]
fn commands_for_existing_data_neither_create_nor_migrate_nor_seed_the_database() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let file = program.folder().path().join("new.db");
    let program = program.setting("DATABASE_URL", format!("sqlite://{}", file.display()));
    for command in [
        &["keys", "list"][..],
        &["plans", "list"],
        &["keys", "revoke", "1"],
        &["keys", "rotate", "1"],
        &["plans", "hide", "standard"],
        &["doctor"],
    ] {
        let refused = program.run(command);
        assert_eq!(refused.code, Some(1), "{}", refused.errors);
        assert!(
            refused.errors.contains("does not exist; nothing was created"),
            "{}",
            refused.errors
        );
        assert!(!file.exists());
    }
    File::create(&file).unwrap();
    let refused = program.run(&["keys", "list"]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("is empty; nothing was changed"), "{}", refused.errors);
    assert_eq!(file.metadata().unwrap().len(), 0);
    program.done(&["migrate"]);
    assert_eq!(program.json(&["plans", "list"]), json!([]));
    assert_eq!(program.json(&["keys", "list"]), json!([]));
    program.done(&["keys", "issue", "alice"]);
    assert_eq!(program.json(&["plans", "list"])[0]["code"], "standard");
}

#[test]
fn empty_variables_count_as_unset_except_database_url() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let empty = ["TRUSTED_PROXIES", "PUBLIC_URL", "TLS_CERT", "WORKERS", "LOG_FORMAT", "RUST_LOG"];
    let program = empty.iter().fold(program, |program, name| program.setting(*name, ""));
    assert!(!program.done(&["keys", "issue", "alice"]).is_empty());
    assert_eq!(program.run(&["keys", "list"]).code, Some(0));
    let refused = program.setting("DATABASE_URL", "").run(&["keys", "list"]);
    assert_eq!(refused.code, Some(2), "{}", refused.errors);
    assert!(refused.errors.contains("DATABASE_URL is empty"), "{}", refused.errors);
}

#[test]
fn server_with_a_wrong_setting_creates_no_database() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let file = program.folder().write("file", "");
    let file = file.to_str().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let missing =
        [("TLS_MODE", "native"), ("TLS_CERT", "/no/cert.pem"), ("TLS_KEY", "/no/key.pem")];
    let unreadable = [("TLS_MODE", "native"), ("TLS_CERT", file), ("TLS_KEY", file)];
    for (settings, expected) in [
        (&missing[..], "cannot read the certificate /no/cert.pem (TLS_CERT)"),
        (&unreadable, "(TLS_CERT) does not contain a PEM certificate"),
        (&[("BIND", &*taken)], "(BIND): it is in use by another program"),
        (&[("ADMIN_BIND", &*taken)], "(ADMIN_BIND): it is in use by another program"),
        (
            &[("BIND", &*free), ("ADMIN_BIND", &*free)],
            "used twice in BIND, TLS_BIND and ADMIN_BIND",
        ),
        (&[("BIND", "192.0.2.1:80")], "BIND: cannot listen on 192.0.2.1:80"),
        (&[("BIND", "8081")], "invalid address 8081: use HOST:PORT"),
        (&[("AUTO_MIGRATE", "maybe")], "must be true or false, as in AUTO_MIGRATE=true"),
        (&[("DATA_DIR", file)], "DATA_DIR: "),
    ] {
        let mut command = program.serving(&[]);
        command.envs(settings.iter().copied());
        let ran = program.run_command(command);
        assert!(ran.code.is_some_and(|code| code > 0), "{settings:?}: {}", ran.errors);
        assert!(ran.errors.contains(expected), "{settings:?}: {}", ran.errors);
        assert!(!program.folder().join("generator.db").exists(), "{settings:?}");
    }
}

#[actix_web::test]
async fn readiness_reports_a_removed_database_file() {
    let program = program().with_database();
    let Some(file) = program.database().file() else { return };
    let server = program.serve(&[]);
    assert_eq!(server.get("/readyz").answer().await.status, 200);
    std::fs::remove_file(file).unwrap();
    until("the server is not ready", async || {
        let answer = server.get("/readyz").answer().await;
        answer.status == 503 && answer.text().contains("the database file was removed")
    })
    .await;
}

#[actix_web::test]
async fn outage_is_logged_once_if_only_readiness_is_polled() {
    let database = Database::new();
    let Some(address) = database.server_address() else { return };
    let proxy = TcpProxy::to(address);
    let url = database.settings_by(proxy.address()).database_url.unwrap();
    let program = program().setting("DATABASE_URL", url).setting("AUTO_MIGRATE", "true");
    let server = program.serve(&[]);
    assert_eq!(server.get("/readyz").answer().await.status, 200);
    drop(proxy);
    let line = "the database cannot be reached: ";
    until("the outage is logged", async || {
        server.get("/readyz").answer().await.status == 503 && server.log().contains(line)
    })
    .await;
    assert_eq!(server.get("/readyz").answer().await.status, 503);
    assert_eq!(server.log().matches(line).count(), 1);
}

#[test]
fn invalid_rust_log_is_reported_in_the_log_format() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator")).setting("LOG_FORMAT", "json");
    let refused = program.setting("RUST_LOG", "nonsense=foo").run(&["keys", "list"]);
    assert_eq!(refused.code, Some(2), "{}", refused.errors);
    let line: serde_json::Value = serde_json::from_str(refused.errors.trim()).unwrap();
    assert!(line["message"].as_str().unwrap().starts_with("RUST_LOG: "), "{line}");
}

#[test]
fn check_refuses_to_append_to_its_input() {
    let program = program();
    let list = program.folder().write("list", "DE00\n".repeat(9));
    let mut command = program.command(&["check", "iban"]);
    command.stdin(File::open(&list).unwrap());
    command.stdout(File::options().append(true).open(&list).unwrap());
    assert_eq!(command.status().unwrap().code(), Some(1));
    assert_eq!(std::fs::metadata(&list).unwrap().len(), 45);
}
