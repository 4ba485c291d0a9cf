//! Checks whether URLs and addresses are public.

use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

/// Parses an absolute `http` or `https` URL without a user name or password.
///
/// ```
/// assert!(outbound::web_url("https://example.org/a").is_some());
/// assert!(outbound::web_url("file:///etc/passwd").is_none());
/// assert!(outbound::web_url("https://user:word@example.org/").is_none());
/// ```
pub fn web_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(is_web)
}

/// Returns whether `url` would be accepted by [`web_url`].
pub(crate) fn is_web(url: &Url) -> bool {
    let anonymous = url.username().is_empty() && url.password().is_none();
    matches!(url.scheme(), "http" | "https") && url.has_host() && anonymous
}

/// Returns whether the host in a URL might be public. For a host name, this is only certain once it
/// has been resolved.
///
/// ```
/// let public = |text| outbound::web_url(text).is_some_and(|url| outbound::names_public_host(&url));
/// assert!(public("https://example.org/"));
/// assert!(!public("http://127.0.0.1/"));
/// assert!(!public("http://localhost/"));
/// ```
pub fn names_public_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name != "localhost" && !name.ends_with(".localhost") && !name.ends_with(".local")
        }
        Some(Host::Ipv4(ip)) => is_public(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => is_public(IpAddr::V6(ip)),
        None => false,
    }
}

/// Returns whether an address is on the public internet. This excludes loopback, private,
/// link-local, shared, reserved and multicast addresses, and also NAT64 addresses that embed one of
/// them.
///
/// ```
/// assert!(outbound::is_public([8, 8, 8, 8].into()));
/// assert!(!outbound::is_public([169, 254, 169, 254].into()));
/// ```
pub fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match ip.segments() {
            // NAT64 embeds the IPv4 address after this prefix.
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
            }
            // Tunnels, benchmarks, documentation.
            [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
            [0x2002, ..] => false,
            [0x3fff, second, ..] if second < 0x1000 => false,
            [first, ..] => first & 0xe000 == 0x2000,
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let special = match a {
        0 | 240..=255 => true,
        100 => (64..128).contains(&b),
        192 => (b, c) == (0, 0),
        198 => matches!(b, 18 | 19),
        _ => false,
    };
    !(special
        || ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_web_addresses_are_permitted() {
        let public = |text: &str| web_url(text).is_some_and(|url| names_public_host(&url));
        for text in [
            "https://cdn.example/a.png",
            "http://example.org/b",
            "https://8.8.8.8/x.jpg",
            "https://[2a00:1450:4001::1]/a",
            "https://[64:ff9b::808:808]/a",
        ] {
            assert!(public(text), "{text}");
        }
        for text in [
            "ftp://example.org/a.png",
            "javascript:alert(1)",
            "a.png",
            "/a.png",
            "https://user@example.org/",
            "https://:word@example.org/",
            "http://localhost/a",
            "http://x.localhost/a",
            "http://printer.local/a",
            "http://127.0.0.1/a",
            "http://10.1.2.3/a",
            "http://192.168.0.1/a",
            "http://169.254.169.254/a",
            "http://100.64.0.1/a",
            "http://[::1]/a",
            "http://[fe80::1]/a",
            "http://[fd00::1]/a",
            "http://[::ffff:127.0.0.1]/a",
            "http://2130706433/a",
            "http://127.1/a",
            "http://0x7f.1/a",
            "http://localhost./a",
            "http://0.0.0.0/a",
            "http://192.0.0.1/a",
            "http://198.18.0.1/a",
            "http://240.0.0.1/a",
            "http://255.255.255.255/a",
            "http://[::]/a",
            "http://[::127.0.0.1]/a",
            "http://[64:ff9b::10.0.0.1]/a",
            "http://[2002:7f00:1::]/a",
            "http://[2001:0:1::1]/a",
            "http://[3fff::1]/a",
            "http://[ff02::1]/a",
        ] {
            assert!(!public(text), "{text}");
        }
    }
}
