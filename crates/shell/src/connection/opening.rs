//! Opens a connection: reads the PROXY protocol header, does the TLS handshake and detects the
//! protocol.

use std::io;
use std::net::SocketAddr;

use actix_web::http::StatusCode;
use actix_web::web::BytesMut;
use ppp::HeaderResult;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsAcceptor;

use super::account::Connection;
use super::entrance::Entrance;
use super::limits::KEEP_ALIVE;
use super::peers::PeerPermit;
use super::socket::{Protocol, Socket, Stream};

/// Maximum length in bytes of a version 1 header, including its line ending.
const LONGEST_V1: usize = 107;
/// Length in bytes of a version 2 header without its addresses and extensions.
const V2_PREFIX: usize = 16;
/// Maximum length in bytes of the addresses and extensions in a version 2 header.
const LONGEST_V2: usize = 4096;
/// Size of the first read, which we use to detect the protocol. Large enough for a typical request
/// head.
const FIRST_READ: usize = 8 << 10;
/// The first bytes that an HTTP/2 client sends.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The version 2 extension that describes the TLS connection between client and proxy.
const TLV_SSL: u8 = 0x20;
/// The flag in the extension's first byte that is set if the client used TLS.
const CLIENT_SSL: u8 = 0x01;

/// A connection whose protocol is known.
pub(super) struct Opened {
    pub(super) socket: Socket,
    pub(super) protocol: Protocol,
    /// The client's address, according to the socket or the proxy.
    pub(super) peer: Option<SocketAddr>,
    pub(super) permit: Option<PeerPermit>,
    /// When the first bytes of a request arrived. `None` if no bytes were needed to detect the
    /// protocol.
    pub(super) begun: Option<Instant>,
}

/// The contents of a PROXY protocol header.
#[derive(Debug, Default, PartialEq, Eq)]
struct Announced {
    /// The client's address. `None` if the proxy opened the connection on its own behalf.
    client: Option<SocketAddr>,
    /// Whether the client connected to the proxy over TLS.
    tls: bool,
}

/// Reads everything that precedes the first request. Returns `None` if the connection ends before
/// that.
pub(super) async fn open(
    mut stream: Stream,
    entrance: &Entrance,
    connection: &Connection,
) -> Option<Opened> {
    let mut peer = stream.peer().ok()?;
    // A local proxy is trusted, because the permissions of the Unix socket decide who can connect.
    let trusted = peer.is_none_or(|peer| entrance.peers.trusts(peer.ip()));
    if entrance.proxy_protocol && trusted {
        let since = std::time::Instant::now();
        let announced = match entrance.limit(read_header(&mut stream)).await {
            Some(Ok(announced)) => announced,
            Some(Err(error)) => {
                log::debug!("a connection without a PROXY protocol header was closed: {error}");
                // Health probes can connect and disconnect without sending anything.
                if error.kind() == io::ErrorKind::InvalidData {
                    entrance.faults.report(StatusCode::BAD_REQUEST, peer, since);
                }
                return None;
            }
            None => {
                log::debug!("a PROXY protocol header took too long");
                return None;
            }
        };
        connection.tls_at_proxy.set(announced.tls);
        if announced.client.is_some() {
            connection.trusted_peer.set(false);
            peer = announced.client;
        }
    }
    let permit = match peer {
        Some(peer) => Some(entrance.peers.admit(peer.ip())?),
        None => None,
    };
    let (socket, protocol, begun) = match &entrance.tls {
        None => plain(stream, entrance).await?,
        Some(configuration) => {
            let accepted = TlsAcceptor::from(configuration.clone()).accept(stream);
            let stream = match entrance.limit(accepted).await {
                Some(Ok(stream)) => stream,
                Some(Err(error)) => {
                    log::debug!("a TLS handshake failed: {error}");
                    return None;
                }
                None => {
                    log::debug!("a TLS handshake took too long");
                    return None;
                }
            };
            let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            let protocol = if h2 { Protocol::Http2 } else { Protocol::Http1 };
            (Socket::Secure(Box::new(stream)), protocol, None)
        }
    };
    Some(Opened { socket, protocol, peer, permit, begun })
}

/// Detects the protocol on a connection without TLS. HTTP/2 clients with "prior knowledge" (RFC
/// 9113, section 3.3) start with a preface that isn't a valid HTTP/1.1 request. Returns `None` if
/// the connection ends before the protocol is known.
async fn plain(io: Stream, entrance: &Entrance) -> Option<(Socket, Protocol, Option<Instant>)> {
    let (mut first, mut begun) = (BytesMut::new(), None);
    let mut deadline = Instant::now() + KEEP_ALIVE + entrance.limits.head;
    loop {
        let known = first.len().min(PREFACE.len());
        if known == PREFACE.len() || first[..known] != PREFACE[..known] {
            break;
        }
        let ready = tokio::select! {
            ready = timeout_at(deadline, io.readable()) => ready,
            () = entrance.stopping.notified() => break,
        };
        match ready {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                log::debug!("a connection ended: {error}");
                return None;
            }
            // Nothing arrived in time. If a request has started, the guard will respond to it.
            Err(_) if first.is_empty() => return None,
            Err(_) => break,
        }
        // Only allocate memory for connections that have sent something.
        first.reserve(FIRST_READ);
        match io.try_read(&mut first) {
            Ok(0) if first.is_empty() => return None,
            Ok(0) => break,
            Ok(_) if begun.is_none() => {
                begun = Some(Instant::now());
                deadline = Instant::now() + entrance.limits.head;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                log::debug!("a connection ended: {error}");
                return None;
            }
        }
    }
    let protocol = if first.starts_with(PREFACE) { Protocol::Http2 } else { Protocol::Http1 };
    Some((Socket::Plain { io, first: first.freeze() }, protocol, begun))
}

/// Reads a header of either version without reading past it.
async fn read_header(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Announced> {
    // Even the shortest version 1 header is longer than the version 2 prefix.
    let mut bytes = vec![0; ppp::v2::PROTOCOL_PREFIX.len()];
    stream.read_exact(&mut bytes).await?;
    if bytes == ppp::v2::PROTOCOL_PREFIX {
        bytes.resize(V2_PREFIX, 0);
        stream.read_exact(&mut bytes[ppp::v2::PROTOCOL_PREFIX.len()..]).await?;
        let length = usize::from(u16::from_be_bytes([bytes[14], bytes[15]]));
        if length > LONGEST_V2 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the header is too long"));
        }
        bytes.resize(V2_PREFIX + length, 0);
        stream.read_exact(&mut bytes[V2_PREFIX..]).await?;
    } else {
        while !bytes.ends_with(b"\r\n") && bytes.len() < LONGEST_V1 && bytes.starts_with(b"PROXY ")
        {
            bytes.push(stream.read_u8().await?);
        }
    }
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> io::Result<Announced> {
    let invalid = |error: String| io::Error::new(io::ErrorKind::InvalidData, error);
    match HeaderResult::parse(bytes) {
        HeaderResult::V1(header) => {
            let header = header.map_err(|error| invalid(error.to_string()))?;
            let client = match header.addresses {
                ppp::v1::Addresses::Tcp4(ip) => Some((ip.source_address, ip.source_port).into()),
                ppp::v1::Addresses::Tcp6(ip) => Some((ip.source_address, ip.source_port).into()),
                ppp::v1::Addresses::Unknown => None,
            };
            Ok(Announced { client, tls: false })
        }
        HeaderResult::V2(header) => {
            let header = header.map_err(|error| invalid(error.to_string()))?;
            if header.command == ppp::v2::Command::Local {
                return Ok(Announced::default());
            }
            let client = match header.addresses {
                ppp::v2::Addresses::IPv4(ip) => Some((ip.source_address, ip.source_port).into()),
                ppp::v2::Addresses::IPv6(ip) => Some((ip.source_address, ip.source_port).into()),
                ppp::v2::Addresses::Unix(_) | ppp::v2::Addresses::Unspecified => None,
            };
            let tls = header.tlvs().filter_map(Result::ok).any(|tlv| {
                tlv.kind == TLV_SSL && tlv.value.first().is_some_and(|bits| bits & CLIENT_SSL != 0)
            });
            Ok(Announced { client, tls })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v2(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [ppp::v2::PROTOCOL_PREFIX, &[0x20 | command, family], &length, rest].concat()
    }

    async fn read(bytes: &[u8]) -> io::Result<Announced> {
        let mut rest = [bytes, b"GET"].concat();
        let mut input = rest.as_mut_slice() as &[u8];
        let announced = read_header(&mut input).await?;
        assert_eq!(input, b"GET");
        Ok(announced)
    }

    #[actix_web::test]
    async fn headers_of_both_versions_name_the_client() {
        let client = |text: &str| Some(text.parse().unwrap());
        let v1 = b"PROXY TCP4 203.0.113.9 192.0.2.1 4711 443\r\n";
        assert_eq!(read(v1).await.unwrap().client, client("203.0.113.9:4711"));
        let v1 = b"PROXY TCP6 2001:db8::7 2001:db8::1 4711 443\r\n";
        assert_eq!(read(v1).await.unwrap().client, client("[2001:db8::7]:4711"));
        assert_eq!(read(b"PROXY UNKNOWN\r\n").await.unwrap(), Announced::default());
        let addresses = [203, 0, 113, 9, 192, 0, 2, 1, 0x12, 0x67, 1, 187];
        let header = v2(1, 0x11, &addresses);
        let announced = Announced { client: client("203.0.113.9:4711"), tls: false };
        assert_eq!(read(&header).await.unwrap(), announced);
        let ssl = [TLV_SSL, 0, 5, CLIENT_SSL, 0, 0, 0, 0];
        let header = v2(1, 0x11, &[&addresses[..], &ssl].concat());
        assert!(read(&header).await.unwrap().tls);
        assert_eq!(read(&v2(0, 0, &[])).await.unwrap(), Announced::default());
    }

    #[actix_web::test]
    async fn malformed_headers_are_errors() {
        let long = [b"PROXY TCP4 ".as_slice(), &[b'1'; 200]].concat();
        for bytes in [
            b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".as_slice(),
            b"PROXY TCP4 203.0.113.9\r\n",
            b"PROXY TCP4 256.0.0.1 1.1.1.1 1 1\r\n",
            b"PROXY",
            b"",
            &long,
            &v2(1, 0x11, &[1, 2, 3]),
            &v2(1, 0x11, &[0; 5000]),
        ] {
            let mut input = bytes;
            assert!(read_header(&mut input).await.is_err(), "{bytes:?}");
        }
    }
}
