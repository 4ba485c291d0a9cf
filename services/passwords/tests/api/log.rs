//! What the log of the real binary shows of requests, and what it never shows.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

use passwords::model::Kind;

use crate::harness::{Data, Numbers, exchange};

/// A server that is ended with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn get(address: SocketAddr, target: &str, header: &str) {
    let request = format!("GET {target} HTTP/1.1\r\nhost: x\r\n{header}connection: close\r\n\r\n");
    assert_eq!(exchange(address, &request).status, 200, "{target}");
}

#[test]
fn the_log_says_kind_and_padding_and_never_a_prefix() {
    let data = Data::new();
    let mut numbers = Numbers(11);
    for kind in [Kind::Sha1, Kind::Ntlm] {
        data.activate(kind, &numbers.entries(kind, &[(0xABCDE, 3)]));
    }
    let free = "127.0.0.1:0";
    let arguments = ["--tls-mode", "off", "--bind", free, "--admin-bind", free, "serve"];
    let mut child =
        data.command(&arguments).env("RUST_LOG", "trace").stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let _serving = Serving(child);
    let address = lines
        .find_map(|line| Some(line.split_once("passwords serves http://")?.1.parse().unwrap()))
        .unwrap();
    get(address, "/range/ABCDE", "");
    get(address, "/range/abcde?mode=ntlm", "Add-Padding: true\r\n");
    let mut seen = Vec::new();
    for line in lines {
        seen.push(line);
        if seen.iter().filter(|line| line.contains("access")).count() == 2 {
            break;
        }
    }
    let access: Vec<&String> = seen.iter().filter(|line| line.contains("access")).collect();
    assert!(access[0].contains("/range/{prefix} ") && access[0].contains("request, not padded"));
    assert!(access[1].contains("?mode=ntlm") && access[1].contains("request, padded"));
    for line in seen {
        assert!(!line.to_lowercase().contains("abcde"), "{line}");
    }
}
