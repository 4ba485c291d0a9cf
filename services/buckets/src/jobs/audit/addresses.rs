//! Parses the address file of an audit.

use std::collections::HashSet;

use reqwest::Url;

use crate::jobs::error::JobError;
use crate::jobs::reasons::{printable, shortened};
use crate::model::address::{Address, BucketType, S3_SCHEMES, provider_of};

/// A bucket to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditAddress {
    /// Bucket URL.
    pub url: String,
    /// Bucket address in the index.
    pub bucket: String,
    /// Bucket type for buckets at an endpoint. `None` if it follows from the host.
    pub kind: Option<BucketType>,
}

/// A line that isn't a listable bucket address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLine {
    /// The line itself.
    pub text: String,
    /// Line number and error message.
    pub reason: String,
}

/// A host that implements the S3 API but isn't a known provider.
#[derive(Clone, Debug)]
pub struct Endpoint {
    url: Url,
    kind: BucketType,
}

impl Endpoint {
    /// Parses an endpoint URL. The default type for its buckets is Amazon S3.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| error.to_string())?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && matches!(url.path(), "" | "/")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !is_plain {
            return Err("it must look like https://s3.example.org, without a path".to_owned());
        }
        if url.host_str().is_some_and(|host| provider_of(host).is_some()) {
            return Err("this provider is known: use its bucket addresses".to_owned());
        }
        Ok(Self { url, kind: BucketType::Aws })
    }

    /// Changes the type of the endpoint's buckets.
    #[must_use]
    pub fn of_type(self, kind: BucketType) -> Self {
        Self { kind, ..self }
    }

    /// Returns the host, and the port unless it's the default.
    fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Returns the URL of a bucket if it is at this endpoint. `text` is either a bucket name, or an
    /// address on this host or one of its subdomains.
    fn bucket_url(&self, text: &str) -> Option<String> {
        let (scheme, host) = (self.url.scheme(), self.host());
        let name = S3_SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme));
        let text = name.unwrap_or(text).trim_end_matches('/');
        let rest = text.strip_prefix("https://").or(text.strip_prefix("http://"));
        let (is_url, text) = (rest.is_some(), rest.unwrap_or(text));
        let (first, rest) = text.split_once('/').unwrap_or((text, ""));
        let is_own = first == host && !rest.is_empty() && !rest.contains('/');
        let is_below = rest.is_empty() && first.ends_with(&format!(".{host}"));
        if is_own || is_below {
            return Some(format!("{scheme}://{text}"));
        }
        let is_name = !is_url && rest.is_empty() && !first.is_empty() && first != host;
        is_name.then(|| format!("{scheme}://{host}/{first}"))
    }
}

/// Parses addresses, one per line. Removes duplicates and skips blank lines and lines that start
/// with `#`.
///
/// # Errors
/// Returns an error if no lines remain.
pub fn addresses_of(
    text: &str,
    endpoint: Option<&Endpoint>,
) -> Result<Vec<Result<AuditAddress, InvalidLine>>, JobError> {
    let (mut seen, mut addresses) = (HashSet::new(), Vec::new());
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let address = address_of(&line.to_lowercase(), endpoint).map_err(|why| InvalidLine {
            text: printable(&shortened(line)),
            reason: format!("line {number}: {why}"),
        });
        let is_repeated = address.as_ref().is_ok_and(|one| !seen.insert(one.bucket.clone()));
        if !is_repeated {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(JobError::Invalid("the file has no addresses".to_owned()));
    }
    Ok(addresses)
}

fn address_of(line: &str, endpoint: Option<&Endpoint>) -> Result<AuditAddress, String> {
    if line.contains(['?', '#', '@']) {
        return Err("only public buckets can be listed: use the plain address".to_owned());
    }
    let in_s3 = S3_SCHEMES.iter().any(|scheme| line.starts_with(scheme));
    let has_scheme = in_s3 || line.contains("://");
    let parsed = Address::parse(line).map_err(|error| error.to_string());
    // With `--endpoint`, a bucket name without a host belongs to the endpoint.
    let names_provider = !in_s3 || endpoint.is_none();
    if names_provider && parsed.as_ref().is_ok_and(|address| address.kind().is_some()) {
        let url = if has_scheme { line.to_owned() } else { format!("https://{line}") };
        return Ok(AuditAddress { url, bucket: parsed?.to_string(), kind: None });
    }
    let host = line.split_once("://").map_or(line, |(_, rest)| rest);
    if provider_of(host.split('/').next().unwrap_or_default()).is_some() {
        return Err(parsed.err().unwrap_or_else(|| "it does not name a bucket".to_owned()));
    }
    let endpoint = endpoint.ok_or("an unknown host requires --endpoint")?;
    let url = endpoint.bucket_url(line).ok_or("it is not at the endpoint")?;
    let bucket = Address::parse(&url).map_err(|error| error.to_string())?.to_string();
    Ok(AuditAddress { url, bucket, kind: Some(endpoint.kind) })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::parse(url).unwrap()
    }

    #[rstest]
    #[case("Photos.s3.amazonaws.com", "https://photos.s3.amazonaws.com", "photos.s3.amazonaws.com")]
    #[case("s3://photos", "s3://photos", "photos.s3.amazonaws.com")]
    #[case("arn:aws:s3:::photos", "arn:aws:s3:::photos", "photos.s3.amazonaws.com")]
    #[case("gs://photos", "gs://photos", "photos.storage.googleapis.com")]
    #[case(
        "http://storage.googleapis.com/photos/",
        "http://storage.googleapis.com/photos/",
        "photos.storage.googleapis.com"
    )]
    #[case(
        "acc.blob.core.windows.net/box",
        "https://acc.blob.core.windows.net/box",
        "acc.blob.core.windows.net/box"
    )]
    #[case(
        "box.fra1.digitaloceanspaces.com",
        "https://box.fra1.digitaloceanspaces.com",
        "box.fra1.digitaloceanspaces.com"
    )]
    fn known_providers_need_no_endpoint(
        #[case] line: &str,
        #[case] url: &str,
        #[case] bucket: &str,
    ) {
        let expected = AuditAddress { url: url.into(), bucket: bucket.into(), kind: None };
        assert_eq!(addresses_of(line, None).unwrap(), [Ok(expected)]);
    }

    #[rstest]
    #[case("photos", "https://s3.gra.io.cloud.ovh.net/photos", "s3.gra.io.cloud.ovh.net/photos")]
    #[case(
        "s3://photos",
        "https://s3.gra.io.cloud.ovh.net/photos",
        "s3.gra.io.cloud.ovh.net/photos"
    )]
    #[case(
        "s3a://photos",
        "https://s3.gra.io.cloud.ovh.net/photos",
        "s3.gra.io.cloud.ovh.net/photos"
    )]
    #[case(
        "http://s3.gra.io.cloud.ovh.net/photos/",
        "https://s3.gra.io.cloud.ovh.net/photos",
        "s3.gra.io.cloud.ovh.net/photos"
    )]
    #[case(
        "photos.s3.gra.io.cloud.ovh.net",
        "https://photos.s3.gra.io.cloud.ovh.net",
        "photos.s3.gra.io.cloud.ovh.net"
    )]
    fn endpoint_has_names_and_addresses(
        #[case] line: &str,
        #[case] url: &str,
        #[case] bucket: &str,
    ) {
        let expected =
            AuditAddress { url: url.into(), bucket: bucket.into(), kind: Some(BucketType::Aws) };
        let ovh = endpoint("https://s3.gra.io.cloud.ovh.net/");
        assert_eq!(addresses_of(line, Some(&ovh)).unwrap(), [Ok(expected)]);
    }

    #[test]
    fn addresses_are_listed_once() {
        let text =
            "\u{feff}# nightly\n\ns3://photos\r\nhttps://PHOTOS.s3.amazonaws.com/\n gs://photos \n";
        let addresses = addresses_of(text, None).unwrap();
        let buckets: Vec<&str> =
            addresses.iter().map(|one| one.as_ref().unwrap().bucket.as_str()).collect();
        assert_eq!(buckets, ["photos.s3.amazonaws.com", "photos.storage.googleapis.com"]);
    }

    #[rstest]
    #[case("a.s3.amazonaws.com\nfiles.example.org", None, "line 2: an unknown host")]
    #[case("https://a.s3.amazonaws.com/?key=secret", None, "only public buckets")]
    #[case("s3.amazonaws.com", None, "does not contain a name")]
    #[case("a.s3.amazonaws.com/dir", None, "followed by a path")]
    #[case("# nothing", None, "has no addresses")]
    #[case("files.example.org/a/b", Some("http://127.0.0.1:9000"), "not at the endpoint")]
    #[case("https://files.example.org", Some("http://127.0.0.1:9000"), "not at the endpoint")]
    #[case("http://127.0.0.1:9001/a", Some("http://127.0.0.1:9000"), "not at the endpoint")]
    fn other_lines_are_refused(#[case] text: &str, #[case] at: Option<&str>, #[case] reason: &str) {
        let at = at.map(endpoint);
        let error = match addresses_of(text, at.as_ref()) {
            Ok(lines) => lines.into_iter().find_map(Result::err).unwrap().reason,
            Err(error) => error.to_string(),
        };
        assert!(error.contains(reason), "{error}");
    }

    #[rstest]
    #[case("s3.example.org")]
    #[case("ftp://s3.example.org")]
    #[case("https://s3.example.org/path")]
    #[case("https://me:secret@s3.example.org")]
    #[case("https://s3.amazonaws.com")]
    fn other_endpoints_are_refused(#[case] text: &str) {
        assert!(Endpoint::parse(text).is_err());
    }
}
