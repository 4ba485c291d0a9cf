//! Images: what a write may name, and which addresses are taken.

use std::net::IpAddr;

use url::{Host, Url};

/// What a write says about the image of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageRef {
    Clear,
    Id(i64),
    Address(String),
}

/// A stored image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub id: i64,
    pub url: String,
    pub extension: String,
    pub width: Option<i64>,
    pub height: Option<i64>,
    pub filesize: Option<i64>,
}

/// Takes an absolute `http` or `https` address.
pub fn web_address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let fits = matches!(url.scheme(), "http" | "https") && url.has_host();
    fits.then_some(url)
}

/// Takes the address of an image that lies on a public host.
pub fn image_address(text: &str) -> Option<Url> {
    let url = web_address(text)?;
    let public = match url.host()? {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name != "localhost" && !name.ends_with(".localhost") && !name.ends_with(".local")
        }
        Host::Ipv4(ip) => is_public(IpAddr::V4(ip)),
        Host::Ipv6(ip) => is_public(ip.to_canonical()),
    };
    public.then_some(url)
}

/// Tells whether an address is none of loopback, private, link-local, shared or unspecified.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let shared = ip.octets()[0] == 100 && (64..128).contains(&ip.octets()[1]);
            !(ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || ip.is_unspecified()
                || ip.is_broadcast()
                || ip.is_multicast()
                || ip.octets()[0] == 0
                || shared)
        }
        IpAddr::V6(ip) => {
            let first = ip.segments()[0];
            let unique_local = first & 0xfe00 == 0xfc00;
            let link_local = first & 0xffc0 == 0xfe80;
            let hidden = ip.is_loopback() || ip.is_unspecified() || ip.is_multicast();
            !(hidden || unique_local || link_local)
        }
    }
}

/// Returns the lower-case extension of the file that an address names, or an empty text.
pub fn extension(url: &Url) -> String {
    let name = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, extension)) if extension.len() <= 5 => extension.to_ascii_lowercase(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_web_addresses_are_images() {
        for text in ["https://cdn.example/a.png", "http://example.org/b", "https://8.8.8.8/x.jpg"] {
            assert!(image_address(text).is_some(), "{text}");
        }
        for text in [
            "ftp://example.org/a.png",
            "javascript:alert(1)",
            "a.png",
            "/a.png",
            "http://localhost/a",
            "http://x.localhost/a",
            "http://printer.local/a",
            "http://127.0.0.1/a",
            "http://10.1.2.3/a",
            "http://192.168.0.1/a",
            "http://169.254.1.1/a",
            "http://100.64.0.1/a",
            "http://[::1]/a",
            "http://[fe80::1]/a",
            "http://[fd00::1]/a",
            "http://[::ffff:127.0.0.1]/a",
            "http://2130706433/a",
        ] {
            assert!(image_address(text).is_none(), "{text}");
        }
    }
}
