//! A DNS server for tests.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::must::must;

/// Record types.
const A: u16 = 1;
const TXT: u16 = 16;
const AAAA: u16 = 28;
/// Response codes.
const NO_ERROR: u8 = 0;
const SERVER_FAILURE: u8 = 2;
const NO_SUCH_NAME: u8 = 3;
/// The flag that marks a truncated response.
const TRUNCATED: u8 = 0b10;
/// Maximum size in bytes of a datagram without extensions. Longer responses are fetched over TCP.
const DATAGRAM: usize = 512;

#[derive(Debug, Default)]
struct Zone {
    records: HashMap<String, Vec<(u16, Vec<u8>)>>,
    fails: bool,
    questions: usize,
}

/// A DNS server on the loopback interface, over both UDP and TCP. Tests set its records.
///
/// ```
/// let dns = testkit::DnsPeer::start();
/// dns.set_txt("example.com", &["v=spf1 -all", "breach-verify=dweb_1"]);
/// dns.set_address("www.example.com", [127, 0, 0, 1].into());
/// ```
#[derive(Debug)]
pub struct DnsPeer {
    address: SocketAddr,
    zone: Arc<Mutex<Zone>>,
}

impl DnsPeer {
    /// Starts the server on a free port. It runs until the process exits.
    ///
    /// # Panics
    /// Panics if no port is free for both UDP and TCP.
    pub fn start() -> Self {
        let (udp, tcp) = sockets();
        let address = must("read the address", udp.local_addr());
        let zone = Arc::new(Mutex::new(Zone::default()));
        let known = Arc::clone(&zone);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok((length, from)) = udp.recv_from(&mut buffer) {
                let Some(mut reply) = reply(&known, &buffer[..length]) else { continue };
                if reply.len() > DATAGRAM {
                    reply.truncate(question_end(&reply));
                    reply[2] |= TRUNCATED;
                    reply[6..12].fill(0);
                }
                let _ = udp.send_to(&reply, from);
            }
        });
        let known = Arc::clone(&zone);
        std::thread::spawn(move || {
            for stream in tcp.incoming().flatten() {
                let known = Arc::clone(&known);
                std::thread::spawn(move || serve(stream, &known));
            }
        });
        Self { address, zone }
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    fn zone(&self) -> MutexGuard<'_, Zone> {
        self.zone.lock()
    }

    /// Replaces the TXT records of a name. A text longer than 255 bytes is split into several
    /// strings.
    pub fn set_txt(&self, name: &str, texts: &[&str]) {
        let data = texts.iter().map(|text| {
            let strings = text.as_bytes().chunks(255).flat_map(|part| {
                let length = part.len() as u8;
                std::iter::once(length).chain(part.iter().copied())
            });
            (TXT, strings.collect())
        });
        self.replace(name, TXT, data.collect());
    }

    /// Replaces the address of a name.
    pub fn set_address(&self, name: &str, address: IpAddr) {
        let record = match address {
            IpAddr::V4(ip) => (A, ip.octets().to_vec()),
            IpAddr::V6(ip) => (AAAA, ip.octets().to_vec()),
        };
        self.replace(name, record.0, vec![record]);
    }

    fn replace(&self, name: &str, kind: u16, new: Vec<(u16, Vec<u8>)>) {
        let mut zone = self.zone();
        let records = zone.records.entry(name.to_lowercase()).or_default();
        records.retain(|(known, _)| *known != kind);
        records.extend(new);
    }

    /// Sets whether the server answers queries with SERVFAIL.
    pub fn set_failing(&self, fails: bool) {
        self.zone().fails = fails;
    }

    /// Returns the number of queries received.
    pub fn questions(&self) -> usize {
        self.zone().questions
    }
}

/// Binds a port that is free for both UDP and TCP.
fn sockets() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let udp = must("bind", UdpSocket::bind(("127.0.0.1", 0)));
        let address = must("read the address", udp.local_addr());
        if let Ok(tcp) = TcpListener::bind(address) {
            return (udp, tcp);
        }
    }
    must("find a port", Err("none is free for UDP and TCP"))
}

fn serve(mut stream: TcpStream, zone: &Mutex<Zone>) {
    let mut length = [0; 2];
    while stream.read_exact(&mut length).is_ok() {
        let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
        if stream.read_exact(&mut question).is_err() {
            return;
        }
        let Some(reply) = reply(zone, &question) else { return };
        let framed = [&(reply.len() as u16).to_be_bytes()[..], &reply].concat();
        if stream.write_all(&framed).is_err() {
            return;
        }
    }
}

/// Returns the offset at which the question section ends.
fn question_end(message: &[u8]) -> usize {
    let mut at = 12;
    while message.get(at).is_some_and(|length| *length != 0) {
        at += usize::from(message[at]) + 1;
    }
    at + 5
}

/// Returns the lowercased name in the question.
fn name_of(message: &[u8]) -> String {
    let mut labels = Vec::new();
    let mut at = 12;
    while let Some(length) = message.get(at).map(|length| usize::from(*length)).filter(|n| *n > 0) {
        let label = message.get(at + 1..at + 1 + length).unwrap_or_default();
        labels.push(String::from_utf8_lossy(label).to_lowercase());
        at += length + 1;
    }
    labels.join(".")
}

/// Returns the response to a message with a single question, or `None` if the message is malformed.
fn reply(zone: &Mutex<Zone>, message: &[u8]) -> Option<Vec<u8>> {
    let end = question_end(message);
    let kind = message.get(end - 4..end - 2)?;
    let kind = u16::from_be_bytes([kind[0], kind[1]]);
    let mut zone = zone.lock();
    zone.questions += 1;
    let known = zone.records.get(&name_of(message));
    let (code, records) = match known {
        _ if zone.fails => (SERVER_FAILURE, Vec::new()),
        None => (NO_SUCH_NAME, Vec::new()),
        Some(records) => (NO_ERROR, records.iter().filter(|(known, _)| *known == kind).collect()),
    };
    // Flags: this is a response, the answer is authoritative, and recursion is available.
    let mut reply = vec![message[0], message[1], 0x85, 0x80 | code, 0, 1];
    reply.extend((records.len() as u16).to_be_bytes());
    reply.extend([0; 4]);
    reply.extend(&message[12..end]);
    for (kind, data) in records {
        // A pointer to the name at offset 12, class IN, and a TTL of one minute.
        reply.extend([0xc0, 12]);
        reply.extend(kind.to_be_bytes());
        reply.extend([0, 1, 0, 0, 0, 60]);
        reply.extend((data.len() as u16).to_be_bytes());
        reply.extend(data);
    }
    Some(reply)
}
