//! Images, how writes refer to them, and which URLs are accepted.

use outbound::names_public_host;
use url::Url;

/// An image in a write request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageRef {
    /// Removes the image from the resource.
    Clear,
    /// The id of an existing image.
    Id(i64),
    /// An image URL.
    Url(String),
}

/// A stored image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The id, unique across events, venues, organizers and images.
    pub id: i64,
    /// The URL as submitted by the client.
    pub url: String,
    /// The file name, if the image is stored here.
    pub file: Option<String>,
    /// The file extension in the URL.
    pub extension: String,
    /// Width in pixels, if known.
    pub width: Option<i64>,
    /// Height in pixels, if known.
    pub height: Option<i64>,
    /// File size in bytes, if known.
    pub filesize: Option<i64>,
}

/// Formats of stored images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// GIF.
    Gif,
    /// WebP.
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

    /// Returns the file extension.
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
    /// File name in the media folder.
    pub name: String,
    /// The image format.
    pub format: Format,
    /// Width in pixels.
    pub width: i64,
    /// Height in pixels.
    pub height: i64,
    /// File size in bytes.
    pub filesize: i64,
}

/// Parses an absolute `http` or `https` URL. Returns `None` for anything else.
pub fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let fits = matches!(url.scheme(), "http" | "https") && url.has_host();
    fits.then_some(url)
}

/// Percent-encodes characters that could end an HTML attribute.
pub fn encoded_for_attribute(address: &str) -> String {
    let encodings = [("\"", "%22"), ("<", "%3C"), (">", "%3E"), ("`", "%60"), (" ", "%20")];
    encodings.into_iter().fold(address.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Parses an image URL. Returns `None` if it isn't a web URL or its host name doesn't look public.
pub fn image_url(text: &str) -> Option<Url> {
    outbound::web_url(text).filter(names_public_host)
}

/// Returns a URL's file extension in lower case, or an empty string.
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
        // `outbound` tests which IP addresses are public.
        assert!(image_url("https://cdn.example/a.png").is_some());
        for text in ["ftp://example.org/a.png", "/a.png", "http://localhost/a"] {
            assert!(image_url(text).is_none(), "{text}");
        }
    }
}
