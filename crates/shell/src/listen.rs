//! The addresses that a server listens on.

use std::fmt;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context as _;
use socket2::{Domain, Protocol, Socket, Type};

/// Maximum number of connections waiting to be accepted.
const BACKLOG: i32 = 1024;
/// How many unsent response bytes the kernel buffers per connection. By default, it buffers
/// megabytes, and only accepts more once the client has read a third of them. A slow client would
/// then seem to have stopped reading.
const UNSENT: u32 = 64 << 10;
/// Permissions of Unix sockets, which let the service's user and group connect.
const UNIX_SOCKET_MODE: u32 = 0o660;

/// Maximum length of a Unix socket's path, not counting the terminating NUL.
const MAX_UNIX_PATH: usize = 107;

/// An address in `BIND`, `TLS_BIND` or `ADMIN_BIND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// An IP address and a port.
    Ip(SocketAddr),
    /// `HOST:PORT`, which listens on every IP address that the name resolves to.
    Name(String),
    /// `unix:/PATH`.
    Unix(PathBuf),
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.len() > MAX_UNIX_PATH {
                return Err(format!(
                    "the path of a Unix socket must be at most {MAX_UNIX_PATH} bytes long"
                ));
            }
            return match Path::new(path).is_absolute() {
                true => Ok(Self::Unix(path.into())),
                false => Err(format!("{text} must be unix: followed by an absolute path")),
            };
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::Ip(address));
        }
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
        };
        match text.rsplit_once(':') {
            Some((name, port)) if is_name(name) && port.parse::<u16>().is_ok() => {
                Ok(Self::Name(text.to_owned()))
            }
            _ => Err(format!("invalid address {text}: use HOST:PORT, [IPV6]:PORT or unix:/PATH")),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(address) => write!(formatter, "{address}"),
            Self::Name(name) => write!(formatter, "{name}"),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

impl ListenAddress {
    /// Returns the IP addresses, or an empty list for a Unix socket.
    ///
    /// # Errors
    /// Returns an error if the name cannot be resolved.
    pub fn resolve(&self) -> Result<Vec<SocketAddr>> {
        match self {
            Self::Ip(address) => Ok(vec![*address]),
            Self::Name(name) => Ok(name.to_socket_addrs()?.collect()),
            Self::Unix(_) => Ok(Vec::new()),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Returns the address as a URL for log lines.
    pub(crate) fn url(&self, scheme: &str) -> String {
        match self {
            Self::Tcp(listener) => match listener.local_addr() {
                Ok(address) => format!("{scheme}://{address}"),
                Err(error) => format!("an unknown address ({error})"),
            },
            Self::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }
}

/// Binds every address in a setting. If a host name also resolves to addresses that this machine
/// doesn't have, they are skipped as long as at least one can be bound.
///
/// # Errors
/// Returns an error if an address cannot be bound.
pub(crate) fn bind(addresses: &[ListenAddress], setting: &str) -> anyhow::Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    for address in addresses {
        let context = || format!("cannot listen on {address} ({setting})");
        if let ListenAddress::Unix(path) = address {
            let listener = bind_unix(path).with_context(context)?;
            listeners.push(Listener::Unix(listener, path.clone()));
            continue;
        }
        let resolved = address.resolve().with_context(context)?;
        let (before, mut missing) = (listeners.len(), None);
        for ip in resolved {
            match bind_tcp(ip, addresses) {
                Ok(listener) => listeners.push(Listener::Tcp(listener)),
                Err(error) if error.kind() == ErrorKind::AddrNotAvailable => missing = Some(error),
                Err(error) => return Err(error).with_context(context),
            }
        }
        if listeners.len() == before {
            let error = missing.unwrap_or_else(|| ErrorKind::AddrNotAvailable.into());
            return Err(error).with_context(context);
        }
    }
    Ok(listeners)
}

/// Checks the addresses in a setting by binding them for a moment, without listening. Returns the
/// addresses that are in use. Unix sockets aren't checked.
///
/// # Errors
/// Returns an error if an address cannot be bound for another reason.
pub(crate) fn in_use(addresses: &[ListenAddress]) -> anyhow::Result<Vec<SocketAddr>> {
    let mut taken = Vec::new();
    for address in addresses {
        let context = || format!("cannot listen on {address}");
        let (mut is_usable, mut missing) = (false, None);
        for ip in address.resolve().with_context(context)? {
            match bound(ip, addresses) {
                Ok(_) => is_usable = true,
                Err(error) if error.kind() == ErrorKind::AddrInUse => {
                    is_usable = true;
                    taken.push(ip);
                }
                Err(error) if error.kind() == ErrorKind::AddrNotAvailable => missing = Some(error),
                Err(error) => return Err(error).with_context(context),
            }
        }
        if let Some(error) = missing.filter(|_| !is_usable) {
            return Err(error).with_context(context);
        }
    }
    Ok(taken)
}

/// Binds a TCP address and listens on it.
fn bind_tcp(address: SocketAddr, all: &[ListenAddress]) -> Result<TcpListener> {
    let socket = bound(address, all)?;
    // Accepted connections inherit this option.
    socket.set_tcp_notsent_lowat(UNSENT)?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Binds a TCP address. `[::]` also accepts IPv4 connections, unless the setting contains an IPv4
/// address with the same port.
fn bound(address: SocketAddr, all: &[ListenAddress]) -> Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() && address.port() != 0 {
        let same_port = |other: &ListenAddress| matches!(other, ListenAddress::Ip(other) if other.is_ipv4() && other.port() == address.port());
        socket.set_only_v6(all.iter().any(same_port))?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Binds a Unix socket. Replaces a socket that a killed process left behind, but never one that is
/// in use, nor any other kind of file.
///
/// If several processes start at once, one of them gets the socket. The others wait for the lock
/// and then see that the socket is in use.
fn bind_unix(path: &Path) -> Result<UnixListener> {
    let mut options = File::options();
    let lock = options.write(true).create(true).truncate(false).mode(0o600).open(lock_of(path))?;
    lock.lock()?;
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                "the file exists and is not a socket",
            ));
        }
        Ok(_) if UnixStream::connect(path).is_ok() => return Err(ErrorKind::AddrInUse.into()),
        Ok(_) => std::fs::remove_file(path)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, PermissionsExt::from_mode(UNIX_SOCKET_MODE))?;
    Ok(listener)
}

/// Returns the path of the lock file for a Unix socket. The file is never removed, because another
/// process might be waiting for the lock.
fn lock_of(path: &Path) -> PathBuf {
    let mut path = path.to_owned().into_os_string();
    path.push(".lock");
    path.into()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpStream;
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn addresses_are_ip_addresses_names_or_unix_sockets() {
        for text in ["127.0.0.1:8081", "[::1]:80", "localhost:0", "a-b.example:443", "unix:/run/x"]
        {
            assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), text);
        }
        for text in ["", "8081", ":8081", "localhost", "a b:1", "a:99999", "unix:x", "::1:80x"] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
        let socket = |length: usize| format!("unix:/{}", "x".repeat(length - 1));
        assert!(socket(MAX_UNIX_PATH).parse::<ListenAddress>().is_ok());
        assert!(socket(MAX_UNIX_PATH + 1).parse::<ListenAddress>().unwrap_err().contains("107"));
    }

    #[test]
    fn ipv4_and_ipv6_wildcards_share_a_port() {
        let free = bind(&["0.0.0.0:0".parse().unwrap()], "BIND").unwrap();
        let Listener::Tcp(listener) = &free[0] else { unreachable!() };
        let port = listener.local_addr().unwrap().port();
        drop(free);
        let both = [format!("0.0.0.0:{port}"), format!("[::]:{port}")];
        let both: Vec<ListenAddress> = both.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(bind(&both, "BIND").unwrap().len(), 2);
    }

    #[test]
    fn addresses_in_use_and_of_other_machines_are_found() {
        let addresses = |text: String| [text.parse::<ListenAddress>().unwrap()];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(in_use(&addresses(address.to_string())).unwrap(), [address]);
        drop(listener);
        assert!(in_use(&addresses(address.to_string())).unwrap().is_empty());
        // This block is reserved for documentation (RFC 5737).
        let error = format!("{:#}", in_use(&addresses("192.0.2.1:8080".to_owned())).unwrap_err());
        assert!(error.starts_with("cannot listen on 192.0.2.1:8080: "), "{error}");
        assert!(in_use(&addresses("unix:/no/such/folder".to_owned())).unwrap().is_empty());
    }

    #[test]
    fn the_kernel_keeps_little_of_a_response_that_is_not_read() {
        let listening = bind(&["127.0.0.1:0".parse().unwrap()], "BIND").unwrap();
        let Listener::Tcp(listener) = &listening[0] else { unreachable!() };
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        accepted.set_nonblocking(true).unwrap();
        let mut kept = 0;
        while let Ok(length) = accepted.write(&[0; 16 << 10]) {
            kept += length;
        }
        // Without the limit, this would be about 4 MB.
        assert!((1..1_000_000).contains(&kept), "{kept}");
    }

    #[test]
    fn a_stale_unix_socket_is_replaced_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let address = [ListenAddress::Unix(path.clone())];
        drop(bind(&address, "BIND").unwrap());
        let listening = bind(&address, "BIND").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);
        let error = format!("{:#}", bind(&address, "BIND").unwrap_err());
        assert!(error.contains("(BIND): "), "{error}");
        drop(listening);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "x").unwrap();
        assert!(bind(&address, "BIND").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"x");
    }

    #[test]
    fn one_of_several_servers_takes_a_stale_unix_socket() {
        const SERVERS: usize = 4;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let address = [ListenAddress::Unix(path.clone())];
        let start = Barrier::new(SERVERS);
        for _ in 0..200 {
            drop(bind(&address, "BIND").unwrap());
            let bound: Vec<_> = std::thread::scope(|scope| {
                let bind = || {
                    start.wait();
                    bind(&address, "BIND").ok()
                };
                let servers: Vec<_> = (0..SERVERS).map(|_| scope.spawn(bind)).collect();
                servers.into_iter().filter_map(|server| server.join().unwrap()).collect()
            });
            assert_eq!(bound.len(), 1);
            assert!(UnixStream::connect(&path).is_ok());
        }
    }
}
