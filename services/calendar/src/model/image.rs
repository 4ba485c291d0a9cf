//! Images: what a write may name, and which urls are taken.

use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

/// What a write says about the image of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageRef {
    Clear,
    Id(i64),
    Url(String),
}

/// A stored image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub id: i64,
    /// The address that it was named by.
    pub url: String,
    /// The name of its file, where it is stored here.
    pub file: Option<String>,
    pub extension: String,
    pub width: Option<i64>,
    pub height: Option<i64>,
    pub filesize: Option<i64>,
}

/// The formats of stored images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Jpeg,
    Png,
    Gif,
    Webp,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Jpeg, Format::Png, Format::Gif, Format::Webp];

    /// Returns the media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
            Format::Gif => "image/gif",
            Format::Webp => "image/webp",
        }
    }

    /// Returns the extension of file names.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Jpeg => "jpg",
            Format::Png => "png",
            Format::Gif => "gif",
            Format::Webp => "webp",
        }
    }
}

/// An image whose file lies in the media folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFile {
    /// Name of the file in the media folder.
    pub name: String,
    pub format: Format,
    pub width: i64,
    pub height: i64,
    /// Size in bytes.
    pub filesize: i64,
}

/// Takes an absolute `http` or `https` address.
pub fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let fits = matches!(url.scheme(), "http" | "https") && url.has_host();
    fits.then_some(url)
}

/// Takes the address of an image that lies on a public host, as far as the text tells.
pub fn image_url(text: &str) -> Option<Url> {
    web_url(text).filter(names_public_host)
}

/// Tells whether an address names a host that may be public; where a name leads to is not known
/// before it is looked up.
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

/// Tells whether an address is one of the public internet: none of loopback, private, link-local,
/// shared, reserved, multicast, nor one that carries such an address of the older kind.
pub fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match ip.segments() {
            // A translator of the network puts the older address behind this prefix.
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
            }
            // Tunnels, benchmarks, documentation.
            [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
            [0x2002, ..] => false,
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
        for text in [
            "https://cdn.example/a.png",
            "http://example.org/b",
            "https://8.8.8.8/x.jpg",
            "https://[2a00:1450:4001::1]/a",
            "https://[64:ff9b::808:808]/a",
        ] {
            assert!(image_url(text).is_some(), "{text}");
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
            "http://127.1/a",
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
            "http://[ff02::1]/a",
        ] {
            assert!(image_url(text).is_none(), "{text}");
        }
    }
}
