//! What the log of the real binary shows of requests, and what it never shows.

use std::net::SocketAddr;

use passwords::model::Kind;

use testkit::{Served, exchange, until_blocking};

use crate::app::{Data, Numbers};

fn get(address: SocketAddr, target: &str, header: &str) {
    let request = format!("GET {target} HTTP/1.1\r\nhost: x\r\n{header}connection: close\r\n\r\n");
    assert_eq!(exchange(address, &request).status, 200, "{target}");
}

#[test]
fn the_log_says_kind_and_padding_and_never_a_prefix() {
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
    assert!(access[0].contains("/range/{prefix} ") && access[0].contains("request, not padded"));
    assert!(access[1].contains("?mode=ntlm") && access[1].contains("request, padded"));
    for line in seen {
        assert!(!line.to_lowercase().contains("abcde"), "{line}");
    }
}
