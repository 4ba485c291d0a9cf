//! The log of the real binary: its contents, and the data that it must never contain.

use std::net::SocketAddr;
use std::os::unix::fs::FileExt;

use passwords::model::Kind;

use testkit::{Served, exchange, log_without, until_blocking};

use crate::app::{Data, Numbers};

fn get(address: SocketAddr, target: &str, header: &str) {
    let request = format!("GET {target} HTTP/1.1\r\nhost: x\r\n{header}connection: close\r\n\r\n");
    assert_eq!(exchange(address, &request).status, 200, "{target}");
}

#[test]
fn log_has_kind_and_padding_but_no_prefix() {
    let data = Data::new();
    let mut numbers = Numbers::new(11);
    for kind in [Kind::Sha1, Kind::Ntlm] {
        data.activate(kind, &numbers.entries(kind, &[(0xABCDE, 3)]));
    }
    let mut command = data.command(&["--tls-mode", "off", "serve"]);
    command.env("BIND", "127.0.0.1:0").env("ADMIN_BIND", "127.0.0.1:0").env("RUST_LOG", "trace");
    let served = Served::start(command);
    let address = served.http();
    get(address, "/range/ABCDE", "");
    get(address, "/range/abcde?mode=ntlm", "Add-Padding: true\r\n");
    until_blocking("two requests are logged", || {
        served.log().lines().filter(|line| line.contains("access")).count() == 2
    });
    let log = served.log().clone();
    let seen: Vec<&str> = log.lines().collect();
    let access: Vec<&&str> = seen.iter().filter(|line| line.contains("access")).collect();
    assert!(access.iter().all(|line| line.contains(" path=/range/{prefix} ")), "{access:?}");
    assert!(access[0].contains("request, sha1, not padded"));
    assert!(access[1].contains("request, ntlm, padded"));
    for line in seen {
        assert!(!line.to_lowercase().contains("abcde"), "{line}");
    }
}

#[actix_web::test]
async fn the_log_shows_patterns_of_routes_at_any_level() {
    let data = Data::new();
    let mut command = data.command(&["--tls-mode", "off", "serve"]);
    command.env("BIND", "127.0.0.1:0").env("ADMIN_BIND", "127.0.0.1:0").env("RUST_LOG", "trace");
    let served = Served::start(command);
    let paths =
        ["/range/ABCDE", "/range/ABCDE/x?mode=ABCDE", "/ntlm/range/ABCDE", "/ABCDE", "/?ABCDE"];
    log_without(&served, &paths, &["ABCDE"]).await;
}

#[test]
fn cause_of_a_500_has_the_id_of_its_request() {
    let data = Data::new();
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(0xABCDE, 1)]));
    let mut command = data.command(&["--tls-mode", "off", "serve"]);
    command.env("BIND", "127.0.0.1:0").env("ADMIN_BIND", "127.0.0.1:0");
    command.env("IN_MEMORY_LIMIT_MB", "0").env("VERIFY_ON_READ", "on");
    let served = Served::start(command);
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len();
    file.write_all_at(&[0x7E], length - 9).unwrap();
    let request =
        "GET /range/ABCDE HTTP/1.1\r\nhost: x\r\nx-request-id: r-7\r\nconnection: close\r\n\r\n";
    assert_eq!(exchange(served.http(), request).status, 500);
    until_blocking("the cause is logged", || served.log().contains("cannot be served"));
    let log = served.log().clone();
    let line = log.lines().find(|line| line.contains("cannot be served")).unwrap();
    assert!(line.contains("request_id=r-7"), "{line}");
}

#[test]
fn non_http_bytes_are_answered_without_an_error_line() {
    let data = Data::new();
    for level in ["error", "info"] {
        let mut command = data.command(&["--tls-mode", "off", "serve"]);
        command.env("BIND", "127.0.0.1:0").env("ADMIN_BIND", "127.0.0.1:0");
        // At level info, the server logs its address.
        command.env("RUST_LOG", format!("{level},shell::server=info"));
        let served = Served::start(command);
        for (request, status) in [
            ("GET / HT\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: x\r\ncontent-length: -3\r\n\r\n", 400),
            ("\0\u{1}\u{2}\r\n\r\n", 400),
        ] {
            assert_eq!(exchange(served.http(), request).status, status, "{request:?}");
        }
        let log = served.log().clone();
        assert!(!log.contains("ERROR"), "{log}");
    }
}

#[test]
fn json_log_format_makes_every_line_json() {
    let data = Data::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = |arguments: &[&str]| {
        let mut command = data.command(arguments);
        command.env("LOG_FORMAT", "json").env("ADMIN_BIND", "127.0.0.1:0");
        let ran = data.program().run_command(command);
        let lines: Vec<serde_json::Value> =
            ran.errors.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        (ran.code, lines)
    };
    let (code, lines) = run(&["--workers=600"]);
    assert_eq!((code, lines.len()), (Some(2), 1));
    assert_eq!(
        lines[0]["message"],
        "invalid value '600' for '--workers <N>': 600 is not in 1..=512"
    );
    let (code, lines) = run(&["--tls-mode=off", "--bind", &address]);
    let last = lines.last().unwrap();
    assert_eq!(
        (code, &last["level"], &last["target"]),
        (Some(1), &"ERROR".into(), &"fatal".into())
    );
    assert!(last["message"].as_str().unwrap().contains("(BIND): it is in use by another program"));
}
