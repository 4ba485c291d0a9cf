//! Finds the next page of a listing.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::format::Format;
use super::unpack::Meter;
use super::xml::{NO_LISTING, Piece, Pieces, percent_decoded};

/// Request parameter that selects the next page.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Marker {
    /// Parameter name.
    pub parameter: String,
    /// Value taken from the previous page.
    pub value: String,
}

impl Marker {
    fn new(parameter: &str, value: Option<String>) -> Option<Self> {
        let value = value.filter(|value| !value.is_empty())?;
        Some(Self { parameter: parameter.to_owned(), value })
    }
}

/// Returns the marker for the next page, or `None` if this is the last page.
///
/// # Errors
/// Returns an error if there are more pages but no marker, or if it is unclear whether there are
/// more pages.
pub fn next_page(format: Format, page: &[u8]) -> Result<Option<Marker>, String> {
    const UNKNOWN: &str = "the page does not say whether it is the last one";
    match format {
        Format::S3 => {
            let said = texts_of(page, "IsTruncated").unwrap_or_default();
            let said: Vec<&str> = said.iter().map(|text| text.trim()).collect();
            match said.last() {
                _ if said.contains(&"true") => s3(page)
                    .ok_or(
                        "the listing is truncated, but has no marker for the next page".to_owned(),
                    )
                    .map(Some),
                // A page that names the next one isn't the last one.
                Some(&"false") => Ok(s3_named(page)),
                _ => Err(UNKNOWN.to_owned()),
            }
        }
        Format::Azure => {
            let marker = text_of(page, "NextMarker").ok_or(UNKNOWN)?;
            Ok(Marker::new("marker", Some(marker)))
        }
        Format::Gcs => gcs(page),
        _ => Ok(None),
    }
}

fn gcs(page: &[u8]) -> Result<Option<Marker>, String> {
    #[derive(Deserialize)]
    struct Page {
        kind: Option<String>,
        items: Option<IgnoredAny>,
        #[serde(rename = "nextPageToken")]
        token: Option<String>,
    }
    let page = serde_json::from_slice::<Page>(page).ok();
    // A page without any files contains just its `kind`.
    let is_listing =
        |page: &Page| page.items.is_some() || page.kind.as_deref() == Some("storage#objects");
    let page = page.filter(is_listing).ok_or(NO_LISTING)?;
    Ok(Marker::new("pageToken", page.token))
}

/// Servers that don't support version 2 of the API respond with version 1. Its pages continue after
/// a key.
fn s3(page: &[u8]) -> Option<Marker> {
    s3_named(page).or_else(|| s3_marker(page, text_of(page, "Contents/Key")?))
}

/// Returns the marker that the page names.
fn s3_named(page: &[u8]) -> Option<Marker> {
    let token = Marker::new("continuation-token", text_of(page, "NextContinuationToken"));
    token.or_else(|| s3_marker(page, text_of(page, "NextMarker")?))
}

fn s3_marker(page: &[u8], last: String) -> Option<Marker> {
    let encoded = text_of(page, "EncodingType").is_some_and(|encoding| encoding.trim() == "url");
    let decoded = |text: &str| String::from_utf8(percent_decoded(&text.replace('+', " "))).ok();
    Marker::new("marker", if encoded { decoded(&last) } else { Some(last) })
}

/// Returns the name of the bucket that a page lists, if the format has it.
pub fn named_bucket(format: Format, page: &[u8]) -> Option<String> {
    if format != Format::S3 {
        return None;
    }
    text_of(page, "Name").filter(|name| !name.is_empty())
}

/// Returns the text of the last element at this path below the root, if any.
fn text_of(page: &[u8], wanted: &str) -> Option<String> {
    texts_of(page, wanted)?.pop()
}

/// Returns the texts of all elements at this path below the root. Returns `None` if the page can't
/// be parsed.
fn texts_of(page: &[u8], wanted: &str) -> Option<Vec<String>> {
    let mut pieces = Pieces::new(Meter::new(page));
    let (mut path, mut found) = (Vec::new(), Vec::new());
    loop {
        match pieces.next().ok()? {
            Piece::End => return Some(found),
            Piece::Open(name, _) => path.push(name),
            Piece::Close(_, text) => {
                if path.get(1..).is_some_and(|below| below.join("/") == wanted) {
                    found.push(text);
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
    #[case(Format::S3, "<R><IsTruncated>false</IsTruncated><NextMarker/></R>", None)]
    #[case(
        Format::S3,
        "<R><IsTruncated>false</IsTruncated><NextMarker>x</NextMarker></R>",
        Some(("marker", "x"))
    )]
    #[case(
        Format::S3,
        "<R><IsTruncated>true</IsTruncated><IsTruncated>false</IsTruncated><Contents><Key>k</Key></Contents></R>",
        Some(("marker", "k"))
    )]
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
    fn continuations(
        #[case] format: Format,
        #[case] page: &str,
        #[case] expected: Option<(&str, &str)>,
    ) {
        let found = next_page(format, page.as_bytes()).unwrap();
        let found = found.as_ref().map(|marker| (&*marker.parameter, &*marker.value));
        assert_eq!(found, expected, "{page}");
    }

    #[rstest]
    #[case(Format::S3, "<R><IsTruncated>true</IsTruncated></R>")]
    #[case(Format::S3, "<R><IsTruncated>true")]
    #[case(Format::S3, "<R></R>")]
    #[case(Format::S3, "<R><IsTruncated/></R>")]
    #[case(Format::Azure, "<E><Blobs/></E>")]
    #[case(Format::Gcs, "{}")]
    #[case(Format::Gcs, "[]")]
    #[case(Format::Gcs, r#"{"error":{"code":403}}"#)]
    fn page_of_unknown_end_is_error(#[case] format: Format, #[case] page: &str) {
        assert!(next_page(format, page.as_bytes()).is_err(), "{page}");
    }
}
