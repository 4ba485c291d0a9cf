//! Finds the next page of a listing.

use serde::{Deserialize, Serialize};

use super::format::Format;
use super::unpack::Meter;
use super::xml::{Piece, Pieces, percent_decoded};

/// The parameter of a list request for the next page.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Marker {
    /// Its name.
    pub parameter: String,
    /// The value from the previous page.
    pub value: String,
}

impl Marker {
    fn new(parameter: &str, value: Option<String>) -> Option<Self> {
        let value = value.filter(|value| !value.is_empty())?;
        Some(Self { parameter: parameter.to_owned(), value })
    }
}

/// Returns the marker of the next page, or `None` at the end and for unreadable pages.
///
/// # Errors
/// The page says that more follows, but has no marker.
pub fn next_page(format: Format, page: &[u8]) -> Result<Option<Marker>, String> {
    if format == Format::S3 && is_truncated(page) {
        let lost = || "the listing is truncated, but has no marker for the next page".to_owned();
        return s3(page).ok_or_else(lost).map(Some);
    }
    Ok(match format {
        Format::Azure => Marker::new("marker", text_of(page, "NextMarker")),
        Format::Gcs => Marker::new("pageToken", gcs(page)),
        Format::S3 | Format::Ndjson | Format::Csv | Format::Tsv => None,
    })
}

fn is_truncated(page: &[u8]) -> bool {
    text_of(page, "IsTruncated").is_some_and(|text| text.trim() == "true")
}

fn gcs(page: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Page {
        #[serde(rename = "nextPageToken")]
        token: Option<String>,
    }
    serde_json::from_slice::<Page>(page).ok()?.token
}

/// A server without version 2 of the request responds in version 1, which continues after a key.
fn s3(page: &[u8]) -> Option<Marker> {
    if let Some(token) = Marker::new("continuation-token", text_of(page, "NextContinuationToken")) {
        return Some(token);
    }
    let encoded = text_of(page, "EncodingType").is_some_and(|encoding| encoding.trim() == "url");
    let last = text_of(page, "NextMarker").filter(|marker| !marker.is_empty());
    let last = last.or_else(|| text_of(page, "Contents/Key"))?;
    let decoded = || String::from_utf8(percent_decoded(&last.replace('+', " "))).ok();
    Marker::new("marker", if encoded { decoded() } else { Some(last.clone()) })
}

/// Returns the text of the last element with this path below the root.
fn text_of(page: &[u8], wanted: &str) -> Option<String> {
    let mut pieces = Pieces::new(Meter::new(page));
    let (mut path, mut found) = (Vec::new(), None);
    loop {
        match pieces.next().ok()? {
            Piece::End => return found,
            Piece::Open(name, _) => path.push(name),
            Piece::Close(_, text) => {
                if path.get(1..).is_some_and(|below| below.join("/") == wanted) {
                    found = Some(text);
                }
                path.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        Format::S3,
        "<R><IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken></R>",
        Some(("continuation-token", "a&b"))
    )]
    #[case(Format::S3, "<R><IsTruncated>false</IsTruncated><NextMarker>x</NextMarker></R>", None)]
    #[case(
        Format::S3,
        "<R><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><Contents><Key>a</Key></Contents><Contents><Key>b+%C3%A9</Key></Contents></R>",
        Some(("marker", "b \u{e9}"))
    )]
    #[case(
        Format::S3,
        "<R><IsTruncated>true</IsTruncated><NextMarker>n</NextMarker><Contents><Key>k</Key></Contents></R>",
        Some(("marker", "n"))
    )]
    #[case(Format::Azure, "<E><Blobs/><NextMarker>2!76</NextMarker></E>", Some(("marker", "2!76")))]
    #[case(Format::Azure, "<E><Blobs/><NextMarker/></E>", None)]
    #[case(Format::Gcs, r#"{"items":[],"nextPageToken":"t"}"#, Some(("pageToken", "t")))]
    #[case(Format::Gcs, r#"{"items":[]}"#, None)]
    #[case(Format::S3, "<R><IsTruncated>true", None)]
    fn continuations(
        #[case] format: Format,
        #[case] page: &str,
        #[case] expected: Option<(&str, &str)>,
    ) {
        let found = next_page(format, page.as_bytes()).unwrap();
        let found = found.as_ref().map(|marker| (&*marker.parameter, &*marker.value));
        assert_eq!(found, expected, "{page}");
    }
    #[test]
    fn truncated_page_without_marker_is_error() {
        let page = "<R><IsTruncated>true</IsTruncated></R>";
        assert!(next_page(Format::S3, page.as_bytes()).is_err());
    }
}
