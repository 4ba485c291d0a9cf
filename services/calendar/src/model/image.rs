//! Images: how writes refer to them, and the URLs that are accepted.

use outbound::names_public_host;
use url::Url;

/// The image that a write refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageRef {
    /// The image is removed from the resource.
    Clear,
    /// The id of an existing image.
    Id(i64),
    /// The URL of an image.
    Url(String),
}

/// A stored image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The id, which is unique among events, venues, organizers and images.
    pub id: i64,
    /// The URL under which a client submitted it.
    pub url: String,
    /// The name of its file, if it is stored here.
    pub file: Option<String>,
    /// The extension in its URL.
    pub extension: String,
    /// Width in pixels, if known.
    pub width: Option<i64>,
    /// Height in pixels, if known.
    pub height: Option<i64>,
    /// Size of the file in bytes, if known.
    pub filesize: Option<i64>,
}

/// The formats of stored images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JPEG
    Jpeg,
    /// PNG
    Png,
    /// GIF
    Gif,
    /// WebP
    Webp,
}

impl Format {
    /// All formats.
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

/// An image file in the media folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFile {
    /// Name of the file in the media folder.
    pub name: String,
    /// The format of the file.
    pub format: Format,
    /// Width in pixels.
    pub width: i64,
    /// Height in pixels.
    pub height: i64,
    /// Size of the file in bytes.
    pub filesize: i64,
}

/// Parses an absolute `http` or `https` URL. Returns `None` for anything else.
pub fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let fits = matches!(url.scheme(), "http" | "https") && url.has_host();
    fits.then_some(url)
}

/// Percent-encodes the characters that would end an HTML attribute.
pub fn encoded_for_attribute(address: &str) -> String {
    let encodings = [("\"", "%22"), ("<", "%3C"), (">", "%3E"), ("`", "%60"), (" ", "%20")];
    encodings.into_iter().fold(address.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Parses an image URL. Returns `None` if it is not a web URL, or if its host does not look public
/// by name.
pub fn image_url(text: &str) -> Option<Url> {
    outbound::web_url(text).filter(names_public_host)
}

/// Returns the lower-case file extension in a URL, or an empty string.
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
    fn image_urls_must_be_public_web_urls() {
        // Whether an IP address is public is tested in `outbound`.
        assert!(image_url("https://cdn.example/a.png").is_some());
        for text in ["ftp://example.org/a.png", "/a.png", "http://localhost/a"] {
            assert!(image_url(text).is_none(), "{text}");
        }
    }
}
