//! Asks a running server whether it is ready.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::{ListenAddress, ShellSettings};

/// Requests `/readyz` from the admin address. The exit code is 0 if the server is ready, and 1
/// otherwise.
///
/// # Errors
/// Returns an error if the server doesn't respond.
pub(crate) fn healthcheck(settings: &ShellSettings) -> anyhow::Result<ExitCode> {
    let addresses: Vec<_> =
        settings.admin_bind.iter().flat_map(|bind| bind.resolve().unwrap_or_default()).collect();
    let Some(address) = addresses.first().copied().map(reachable) else {
        bail!("no address in ADMIN_BIND could be resolved");
    };
    let reply = ask(address).with_context(|| format!("no response from {address}"))?;
    let Some(status) = reply.split(' ').nth(1) else { bail!("no HTTP response from {address}") };
    let body = reply.split_once("\r\n\r\n").map_or("", |(_, body)| body.trim());
    // The exit code is what matters, even if the text can't be printed.
    let _ = writeln!(std::io::stdout(), "{body}");
    Ok(if status == "200" { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns whether a server responds on the admin port.
pub(crate) fn is_running(settings: &ShellSettings) -> bool {
    let resolved = |bind: &ListenAddress| bind.resolve().unwrap_or_default();
    let mut addresses = settings.admin_bind.iter().flat_map(resolved);
    addresses.any(|address| ask(reachable(address)).is_ok_and(|reply| reply.starts_with("HTTP/")))
}

/// Replaces an unspecified address (`0.0.0.0` or `::`), to which clients can't connect, with the
/// loopback address.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn ask(address: SocketAddr) -> std::io::Result<String> {
    let limit = Duration::from_secs(5);
    let mut stream = TcpStream::connect_timeout(&address, limit)?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    // In one write, because a server might respond to the first part and close the connection.
    let request = format!("GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    Ok(reply)
}
