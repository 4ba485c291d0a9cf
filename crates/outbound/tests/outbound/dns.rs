//! Queries to a name server on the loopback interface.

use std::net::{Ipv4Addr, UdpSocket};

use outbound::Dns;
use testkit::DnsPeer;

#[tokio::test]
async fn strings_of_txt_records_are_joined_at_any_length() {
    let peer = DnsPeer::start();
    let dns = Dns::at(peer.address()).unwrap();
    assert_eq!(dns.txt("example.com").await.unwrap(), Vec::<String>::new());
    let long = "x".repeat(700);
    peer.set_txt("example.com", &["one", &long]);
    let mut found = dns.txt("Example.com").await.unwrap();
    found.sort();
    assert_eq!(found, ["one", &long]);
    peer.set_txt("example.com", &["two"]);
    assert_eq!(dns.txt("example.com").await.unwrap(), ["two"]);
    // A name with only other record types.
    peer.set_address("www.example.com", [127, 0, 0, 1].into());
    assert!(dns.txt("www.example.com").await.unwrap().is_empty());
    assert_eq!(
        dns.addresses("www.example.com").await.unwrap(),
        [std::net::IpAddr::from([127, 0, 0, 1])]
    );
}

#[tokio::test]
async fn a_failing_server_is_an_error() {
    let peer = DnsPeer::start();
    peer.set_txt("example.com", &["one"]);
    peer.set_failing(true);
    let dns = Dns::at(peer.address()).unwrap();
    assert!(dns.txt("example.com").await.is_err());
    assert!(dns.addresses("example.com").await.is_err());
    peer.set_failing(false);
    assert_eq!(dns.txt("example.com").await.unwrap(), ["one"]);
}

#[tokio::test]
async fn silent_server_is_an_error_after_two_attempts() {
    let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let dns = Dns::at(silent.local_addr().unwrap()).unwrap();
    assert!(dns.txt("example.com").await.is_err());
    silent.set_nonblocking(true).unwrap();
    let queries = std::iter::from_fn(|| silent.recv(&mut [0; 512]).ok()).count();
    // The resolver repeats a lost datagram twice within an attempt.
    assert!((2..=6).contains(&queries), "{queries}");
}
