//! A proxy in front of a range service that injects network faults.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A fault in a response.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    None,
    /// 429 with `Retry-After`.
    Busy,
    /// 429 with a `Retry-After` of one day.
    BusyForADay,
    /// 304 although the request was not conditional.
    NotModified,
    /// Half of the response, then a closed connection.
    Cut,
    /// Half of the response, then nothing.
    Stalled,
    /// The connection is closed without a response.
    Closed,
    /// A page from a different kind of server.
    Foreign,
    /// A response without a length.
    Endless,
    /// A response whose transfer coding is unknown, so it ends with its connection.
    Coded,
    Moved,
    Missing,
}

/// Starts a proxy that applies these faults to its responses in turn.
pub fn proxy(to: SocketAddr, faults: &'static [Fault]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        static REQUESTS: AtomicUsize = AtomicUsize::new(0);
        for client in listener.incoming() {
            let fault = faults[REQUESTS.fetch_add(1, Ordering::Relaxed) % faults.len()];
            thread::spawn(move || serve(client.unwrap(), to, fault));
        }
    });
    url
}

fn serve(mut client: TcpStream, to: SocketAddr, fault: Fault) -> Option<()> {
    let head = head_of(&mut client)?;
    let answer = match fault {
        Fault::Closed => return None,
        Fault::Busy => answer("429 Too Many Requests", "retry-after: 0\r\n", ""),
        Fault::BusyForADay => answer("429 Too Many Requests", "retry-after: 86400\r\n", ""),
        Fault::NotModified => answer("304 Not Modified", "", ""),
        Fault::Foreign => answer("200 OK", "", "<!DOCTYPE html><p>Sign in"),
        Fault::Moved => answer("301 Moved Permanently", "location: https://new.example/\r\n", ""),
        Fault::Missing => answer("404 Not Found", "", "nothing"),
        Fault::Endless => b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec(),
        Fault::Coded => {
            b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: xchunked\r\n\r\n".to_vec()
        }
        Fault::None | Fault::Cut | Fault::Stalled => asked(to, &head)?,
    };
    let sent = match fault {
        Fault::Cut | Fault::Stalled => answer.len() / 2,
        _ => answer.len(),
    };
    client.write_all(&answer[..sent]).ok()?;
    if matches!(fault, Fault::Stalled) {
        // Wait until the client times out.
        let _ = client.read(&mut [0]);
    }
    Some(())
}

fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn head_of(client: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

fn asked(to: SocketAddr, head: &str) -> Option<Vec<u8>> {
    let mut server = TcpStream::connect(to).ok()?;
    let head = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    server.write_all(head.as_bytes()).ok()?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok()?;
    Some(answer)
}
