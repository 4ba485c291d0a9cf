//! Builds the URLs for listing buckets.

use reqwest::Url;

use crate::jobs::error::JobError;
use crate::jobs::formats::{Defaults, Format, Marker};
use crate::model::address::{Address, BucketType};

/// A bucket whose contents we list one page at a time.
#[derive(Clone, Debug)]
pub(in crate::jobs) struct Listing {
    /// Format of the pages.
    pub(super) format: Format,
    /// Bucket address, which overrides any address found in the pages.
    pub(super) bucket: String,
    /// URL of the provider's list operation.
    base: Url,
}

impl Listing {
    /// Prepares to list the bucket at a URL.
    pub(in crate::jobs) fn of(url: &str, defaults: &Defaults) -> Result<Self, JobError> {
        let wrong = |why: &str| JobError::Invalid(format!("{url}: {why}"));
        if url.contains(['?', '#', '@']) {
            // The URL is stored with the run, and a query or user info could contain secrets.
            return Err(wrong("only public buckets can be listed: use the plain address"));
        }
        let known = Address::parse(url).ok().filter(|address| address.kind().is_some());
        let format = match (defaults.format, known.as_ref().and_then(Address::kind)) {
            (Some(format), None) => format,
            (None, Some(BucketType::Azure)) => Format::Azure,
            (None, Some(BucketType::Gcp)) => Format::Gcs,
            (None | Some(Format::S3), Some(_)) => Format::S3,
            (Some(format), Some(_)) => format,
            (None, None) => return Err(wrong(UNKNOWN_HOST)),
        };
        if !matches!(format, Format::S3 | Format::Azure | Format::Gcs) {
            return Err(wrong("buckets can only be listed through the API of s3, azure or gcs"));
        }
        let bucket = match (&defaults.bucket, &known) {
            (Some(bucket), _) => bucket.clone(),
            (None, Some(address)) => address.to_string(),
            (None, None) => return Err(wrong(UNKNOWN_HOST)),
        };
        let base = match &known {
            Some(address) => interface_of(url, address, format),
            None => url.to_owned(),
        };
        let base = Url::parse(&base).map_err(|error| wrong(&error.to_string()))?;
        Ok(Self { format, bucket, base })
    }

    /// Returns the bucket address.
    pub(in crate::jobs) fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Returns the format of the pages.
    pub(in crate::jobs) fn format(&self) -> Format {
        self.format
    }

    /// Restricts the listing to a prefix.
    pub(super) fn below(&self, prefix: &str) -> Self {
        let mut listing = self.clone();
        if !prefix.is_empty() {
            listing.base.query_pairs_mut().append_pair("prefix", prefix);
        }
        listing
    }

    /// Returns the URL of a page.
    pub(super) fn page(&self, marker: Option<&Marker>) -> Url {
        let mut url = self.base.clone();
        {
            let mut query = url.query_pairs_mut();
            match self.format {
                Format::Azure => query.extend_pairs([("restype", "container"), ("comp", "list")]),
                Format::Gcs => query.extend_pairs([
                    ("maxResults", "1000"),
                    ("fields", "kind,nextPageToken,items(name,bucket,size,updated,etag)"),
                ]),
                // XML can't represent every character that can be in a key.
                _ => query.extend_pairs([("list-type", "2"), ("encoding-type", "url")]),
            };
            if let Some(Marker { parameter, value }) = marker {
                query.append_pair(parameter, value);
            }
        }
        url
    }
}

const UNKNOWN_HOST: &str = "an unknown host requires --bucket ADDRESS and --format s3, azure or \
                            gcs";

/// Returns the URL of a known provider's list operation.
fn interface_of(url: &str, address: &Address, format: Format) -> String {
    let scheme = if url.starts_with("http://") { "http" } else { "https" };
    let (text, name) = (address.as_str(), address.name());
    match format {
        Format::Gcs => format!("{scheme}://storage.googleapis.com/storage/v1/b/{name}/o"),
        // The provider's certificate doesn't match bucket names that contain dots.
        Format::S3 if name.contains('.') && scheme == "https" => {
            format!("{scheme}://{}/{name}/", &text[name.len() + 1..])
        }
        _ => format!("{scheme}://{text}"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "https://Photos.s3.amazonaws.com/",
        "https://photos.s3.amazonaws.com/?list-type=2&encoding-type=url"
    )]
    #[case(
        "http://s3.eu-west-1.amazonaws.com/photos",
        "http://photos.s3.eu-west-1.amazonaws.com/?list-type=2&encoding-type=url"
    )]
    #[case("s3://a.b", "https://s3.amazonaws.com/a.b/?list-type=2&encoding-type=url")]
    #[case(
        "https://box.fra1.digitaloceanspaces.com",
        "https://box.fra1.digitaloceanspaces.com/?list-type=2&encoding-type=url"
    )]
    #[case(
        "https://acc.blob.core.windows.net/box/",
        "https://acc.blob.core.windows.net/box?restype=container&comp=list"
    )]
    #[case(
        "gs://box",
        "https://storage.googleapis.com/storage/v1/b/box/o?maxResults=1000&fields=kind%2CnextPageToken%2Citems%28name%2Cbucket%2Csize%2Cupdated%2Cetag%29"
    )]
    fn known_providers_have_page_urls(#[case] url: &str, #[case] expected: &str) {
        let listing = Listing::of(url, &Defaults::default()).unwrap();
        assert_eq!(listing.page(None).as_str(), expected);
    }

    #[test]
    fn prefixes_are_url_encoded() {
        let listing = Listing::of("s3://box", &Defaults::default()).unwrap().below("a b/");
        let expected = "https://box.s3.amazonaws.com/?prefix=a+b%2F&list-type=2&encoding-type=url";
        assert_eq!(listing.page(None).as_str(), expected);
    }

    #[test]
    fn markers_are_url_encoded() {
        let listing = Listing::of("s3://box", &Defaults::default()).unwrap();
        let marker = Marker { parameter: "marker".to_owned(), value: "a b&c".to_owned() };
        assert!(listing.page(Some(&marker)).as_str().ends_with("&marker=a+b%26c"));
    }

    #[rstest]
    #[case("http://127.0.0.1:9000/box", None, "requires --bucket")]
    #[case("https://acc.blob.core.windows.net/box?sig=secret", None, "only public buckets")]
    #[case("https://me:secret@box.s3.amazonaws.com", None, "only public buckets")]
    #[case("https://box.s3.amazonaws.com", Some(Format::Csv), "API of s3")]
    fn unlistable_addresses_are_rejected(
        #[case] url: &str,
        #[case] format: Option<Format>,
        #[case] why: &str,
    ) {
        let defaults = Defaults { format, ..Defaults::default() };
        let error = Listing::of(url, &defaults).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
