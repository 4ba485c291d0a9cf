//! Parses and normalises bucket addresses.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use icu_normalizer::ComposingNormalizerBorrowed;
use percent_encoding::percent_decode_str;
use serde::Deserialize;

/// Storage provider of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BucketType {
    /// Amazon S3
    Aws,
    /// Azure Blob Storage
    Azure,
    /// DigitalOcean Spaces
    Dos,
    /// Google Cloud Storage
    Gcp,
    /// Alibaba Cloud OSS
    Ali,
}

impl BucketType {
    /// All types, ordered by code.
    pub const ALL: [Self; 5] = [Self::Aws, Self::Azure, Self::Dos, Self::Gcp, Self::Ali];

    /// Name in parameters, responses and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Azure => "azure",
            Self::Dos => "dos",
            Self::Gcp => "gcp",
            Self::Ali => "ali",
        }
    }

    /// The code stored in file indexes. It must never change.
    pub fn code(self) -> u64 {
        self as u64
    }
}

impl fmt::Display for BucketType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for BucketType {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(text));
        found.ok_or(AddressError::UnknownType)
    }
}

/// Error for strings that aren't bucket addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The address or the bucket name is empty.
    #[error("the bucket address does not contain a name")]
    Empty,
    /// The address contains a character that isn't valid in hostnames.
    #[error("the bucket address contains a character that is not valid in host names")]
    BadCharacter,
    /// The address is longer than 512 bytes.
    #[error("the bucket address is longer than 512 bytes")]
    TooLong,
    /// The host is followed by a path where none is allowed, or by more than a container name.
    #[error("the bucket address is followed by a path")]
    ExtraPath,
    /// The host is unknown and no type was given.
    #[error("unknown provider: specify the bucket type")]
    UnknownProvider,
    /// There is no such type.
    #[error("the bucket type must be one of aws, azure, dos, gcp, ali")]
    UnknownType,
    /// The given type doesn't match the host.
    #[error("the bucket type contradicts the bucket address")]
    WrongType,
}

/// Maximum length of an address in bytes.
const LONGEST: usize = 512;

/// A normalised bucket address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    text: String,
    kind: Option<BucketType>,
    name_length: usize,
}

impl Address {
    /// Parses an address. Ignores the scheme, its default port, letter case, the width of letters,
    /// percent-encoding, a dot after the host and trailing slashes, and accepts path-style
    /// addresses. For known hosts, also ignores port 80 if there is no scheme.
    ///
    /// ```
    /// use buckets::model::{Address, BucketType};
    ///
    /// let address = Address::parse("https://s3.eu-west-1.amazonaws.com/Photos/")?;
    /// assert_eq!(address.as_str(), "photos.s3.eu-west-1.amazonaws.com");
    /// assert_eq!(address.kind(), Some(BucketType::Aws));
    /// # Ok::<(), buckets::model::AddressError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = Some(text.trim()).filter(|text| text.len() <= LONGEST).map(plain);
        let text = text.filter(|text| text.len() <= LONGEST).ok_or(AddressError::TooLong)?;
        let allowed = |symbol: char| symbol.is_alphanumeric() || "-._~/:$%+".contains(symbol);
        if !text.chars().all(allowed) {
            return Err(AddressError::BadCharacter);
        }
        let default_port = if text.starts_with("http://") { ":80" } else { ":443" };
        let is_bare = !text.contains("://");
        let (text, name_only) = without_scheme(&text);
        if let Some(suffix) = name_only {
            return Self::named(text, suffix, suffix_type(suffix));
        }
        let (host, container) = text.split_once('/').unwrap_or((text, ""));
        let host = host.strip_suffix(default_port).unwrap_or(host);
        // The removal list must recognise the same host with another port or with a dot at its end.
        let known = if is_bare { host.strip_suffix(":80").unwrap_or(host) } else { host };
        let known = known.trim_end_matches('.');
        let host = if provider(known).is_some() { known.to_owned() } else { without_dot(host) };
        if host.is_empty() {
            return Err(AddressError::Empty);
        }
        Self::of_host(&host, container)
    }

    /// Parses an address and determines the bucket's type. `given` is only needed for unknown
    /// hosts.
    pub fn parse_typed(
        text: &str,
        given: Option<BucketType>,
    ) -> Result<(Self, BucketType), AddressError> {
        let address = Self::parse(text)?;
        let kind = match (address.kind, given) {
            (Some(known), Some(given)) if known != given => return Err(AddressError::WrongType),
            (Some(known), _) => known,
            (None, Some(given)) => given,
            (None, None) => return Err(AddressError::UnknownProvider),
        };
        Ok((address, kind))
    }

    /// The normalised address.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The type, if it follows from the host.
    pub fn kind(&self) -> Option<BucketType> {
        self.kind
    }

    /// Returns a key that all of the bucket's addresses have in common. On S3 and OSS, a bucket has
    /// an address for each region and interface. Its name is unique, so we use that as the key. A
    /// Space has a second address for the CDN, a storage account for its copy in another region.
    pub fn bucket_key(&self) -> String {
        let (text, name) = (&self.text, self.name());
        match self.kind {
            Some(BucketType::Aws) if text.ends_with(".cn") => format!("aws-cn {name}"),
            Some(BucketType::Aws) => format!("aws {name}"),
            Some(BucketType::Ali) => format!("ali {name}"),
            Some(BucketType::Dos) => text.replace(".cdn.digitaloceanspaces", ".digitaloceanspaces"),
            Some(BucketType::Gcp) => format!("{name}.{}", GOOGLE[0]),
            Some(BucketType::Azure) => {
                // Names of accounts have letters and digits only.
                let account = name.strip_suffix("-secondary").unwrap_or(name);
                let container = text.split_once('/').map_or("", |(_, container)| container);
                format!("{account}.{}/{container}", AZURE[0])
            }
            None => text.clone(),
        }
    }

    /// Everything before the provider's suffix. For a custom domain, that's the whole address.
    pub fn name(&self) -> &str {
        &self.text[..self.name_length]
    }

    fn of_host(host: &str, container: &str) -> Result<Self, AddressError> {
        let Some((split, kind)) = provider(host) else {
            let text = join(host, container);
            return Ok(Self { name_length: text.len(), text, kind: None });
        };
        if kind == BucketType::Azure {
            return match (split, container) {
                (0, _) | (_, "") => Err(AddressError::Empty),
                (_, container) if container.contains('/') => Err(AddressError::ExtraPath),
                _ => Ok(Self { text: join(host, container), kind: Some(kind), name_length: split }),
            };
        }
        match (split, container) {
            (0, name) => Self::named(name, host, Some(kind)),
            (_, "") => Ok(Self { text: host.to_owned(), kind: Some(kind), name_length: split }),
            _ => Err(AddressError::ExtraPath),
        }
    }

    fn named(name: &str, suffix: &str, kind: Option<BucketType>) -> Result<Self, AddressError> {
        if name.is_empty() {
            Err(AddressError::Empty)
        } else if name.contains('/') {
            Err(AddressError::ExtraPath)
        } else {
            Ok(Self { text: format!("{name}.{suffix}"), kind, name_length: name.len() })
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the [`Address::bucket_key`] of an address. If the text isn't an address, returns it
/// unchanged.
pub fn bucket_key_of(address: &str) -> String {
    Address::parse(address).map_or_else(|_| address.to_owned(), |parsed| parsed.bucket_key())
}

/// Returns an address in lower case, without percent-encoding and with letters of the usual width.
fn plain(text: &str) -> String {
    let mut text = text.to_lowercase();
    // Decoded text can be encoded, too.
    for _ in 0..LONGEST {
        if text.is_ascii() && !text.contains('%') {
            break;
        }
        let next = decoded(&text);
        if next == text {
            break;
        }
        text = next;
    }
    text
}

fn decoded(text: &str) -> String {
    let decoded = percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text));
    let composed = ComposingNormalizerBorrowed::new_nfkc().normalize(&decoded);
    composed.to_lowercase()
}

/// Strips dots from the end of a host, which can be followed by a port.
fn without_dot(host: &str) -> String {
    match host.split_once(':') {
        Some((name, port)) => format!("{}:{port}", name.trim_end_matches('.')),
        None => host.trim_end_matches('.').to_owned(),
    }
}

fn join(host: &str, container: &str) -> String {
    if container.is_empty() { host.to_owned() } else { format!("{host}/{container}") }
}

/// The domains of storage accounts. The first one is part of [`Address::bucket_key`].
const AZURE: [&str; 2] = ["blob.core.windows.net", "dfs.core.windows.net"];
/// The domains of Google Cloud Storage. The first one is part of [`Address::bucket_key`].
const GOOGLE: [&str; 5] = [
    "storage.googleapis.com",
    "storage.mtls.googleapis.com",
    "commondatastorage.googleapis.com",
    "storage-download.googleapis.com",
    "storage.cloud.google.com",
];

/// The schemes of S3 buckets. Hadoop uses `s3a` and `s3n`.
pub const S3_SCHEMES: [&str; 4] = ["s3://", "s3a://", "s3n://", "arn:aws:s3:::"];

/// Strips the scheme and any trailing slashes. For [`S3_SCHEMES`] and `gs://`, where the host is only
/// implied, also returns the provider's suffix.
fn without_scheme(text: &str) -> (&str, Option<&'static str>) {
    let in_s3 = S3_SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme));
    let (text, suffix) = if let Some(rest) = in_s3 {
        (rest, Some("s3.amazonaws.com"))
    } else if let Some(rest) = text.strip_prefix("gs://") {
        (rest, Some("storage.googleapis.com"))
    } else {
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        (rest.unwrap_or(text), None)
    };
    (text.trim_end_matches('/'), suffix)
}

fn suffix_type(suffix: &str) -> Option<BucketType> {
    provider(suffix).map(|(_, kind)| kind)
}

/// Returns the provider that a host belongs to.
pub fn provider_of(host: &str) -> Option<BucketType> {
    provider(&host.to_lowercase()).map(|(_, kind)| kind)
}

/// Returns the provider of a host, and the length of the bucket name at its start, which is 0 if
/// the host doesn't contain one.
fn provider(host: &str) -> Option<(usize, BucketType)> {
    if let Some(front) = AZURE.iter().find_map(|domain| below(host, domain)) {
        return Some((front.len(), BucketType::Azure));
    }
    if let Some(front) = GOOGLE.iter().find_map(|domain| below(host, domain)) {
        return Some((front.len(), BucketType::Gcp));
    }
    if let Some(front) = below(host, "digitaloceanspaces.com") {
        let name = front.rsplit_once('.').map_or(0, |(name, _)| name.len());
        return (!front.is_empty()).then_some((name, BucketType::Dos));
    }
    if let Some(front) = below(host, "aliyuncs.com") {
        let (name, region) = front.rsplit_once('.').unwrap_or(("", front));
        // The endpoint with the API of S3. Names of buckets don't contain dots.
        let name = if name == "s3" { "" } else { name.strip_suffix(".s3").unwrap_or(name) };
        return region.starts_with("oss-").then_some((name.len(), BucketType::Ali));
    }
    let front = below(host, "amazonaws.com").or_else(|| below(host, "amazonaws.com.cn"))?;
    let (name, last) = front.rsplit_once('.').unwrap_or(("", front));
    if last == "s3" || last.starts_with("s3-") {
        return Some((name.len(), BucketType::Aws));
    }
    let name = name.strip_suffix("dualstack").map_or(name, |rest| rest.trim_end_matches('.'));
    let interfaces = ["s3-fips", "s3-website", "s3-accelerate", "s3"];
    let name = interfaces.iter().find_map(|interface| name.strip_suffix(interface))?;
    (name.is_empty() || name.ends_with('.'))
        .then_some((name.len().saturating_sub(1), BucketType::Aws))
}

/// Returns the part before `.domain`. Empty for the domain itself. Returns `None` if the host isn't
/// in the domain.
fn below<'a>(host: &'a str, domain: &str) -> Option<&'a str> {
    let front = host.strip_suffix(domain)?;
    if front.is_empty() { Some(front) } else { front.strip_suffix('.') }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Name.s3.amazonaws.com", "name.s3.amazonaws.com", "name", BucketType::Aws)]
    #[case(
        "a.b.s3-eu-west-1.amazonaws.com/",
        "a.b.s3-eu-west-1.amazonaws.com",
        "a.b",
        BucketType::Aws
    )]
    #[case("n.s3.eu-west-1.amazonaws.com", "n.s3.eu-west-1.amazonaws.com", "n", BucketType::Aws)]
    #[case("s3.amazonaws.com/NAME", "name.s3.amazonaws.com", "name", BucketType::Aws)]
    #[case(
        "https://s3.eu-west-1.amazonaws.com/N",
        "n.s3.eu-west-1.amazonaws.com",
        "n",
        BucketType::Aws
    )]
    #[case("https://n.s3.amazonaws.com:443/", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("http://s3.amazonaws.com:80/n", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("n.s3.amazonaws.com:80", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("n.s3.amazonaws.com.", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("https://s3.amazonaws.com.:443/n", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("s3://N", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("s3a://N", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("s3n://n/", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("arn:aws:s3:::n", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("%6E.s3.amazonaws.com", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("s3.amazonaws.com/%6e", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case("\u{ff4e}.\u{ff33}3\u{ff0e}amazonaws.com", "n.s3.amazonaws.com", "n", BucketType::Aws)]
    #[case(
        "acc.blob.core.windows.net/%2562ox",
        "acc.blob.core.windows.net/box",
        "acc",
        BucketType::Azure
    )]
    #[case(
        "acc.blob.core.windows.net/%24web",
        "acc.blob.core.windows.net/$web",
        "acc",
        BucketType::Azure
    )]
    #[case(
        "HTTP://acc.blob.core.windows.net/Box/",
        "acc.blob.core.windows.net/box",
        "acc",
        BucketType::Azure
    )]
    #[case("n.fra1.digitaloceanspaces.com", "n.fra1.digitaloceanspaces.com", "n", BucketType::Dos)]
    #[case("fra1.digitaloceanspaces.com/n", "n.fra1.digitaloceanspaces.com", "n", BucketType::Dos)]
    #[case("n.storage.googleapis.com", "n.storage.googleapis.com", "n", BucketType::Gcp)]
    #[case("storage.googleapis.com/n", "n.storage.googleapis.com", "n", BucketType::Gcp)]
    #[case("gs://a_b.c", "a_b.c.storage.googleapis.com", "a_b.c", BucketType::Gcp)]
    #[case(
        "n.oss-cn-hangzhou.aliyuncs.com",
        "n.oss-cn-hangzhou.aliyuncs.com",
        "n",
        BucketType::Ali
    )]
    #[case(
        "oss-cn-hangzhou.aliyuncs.com/n",
        "n.oss-cn-hangzhou.aliyuncs.com",
        "n",
        BucketType::Ali
    )]
    fn every_accepted_form(
        #[case] given: &str,
        #[case] stored: &str,
        #[case] name: &str,
        #[case] kind: BucketType,
    ) {
        let address = Address::parse(given).unwrap();
        assert_eq!((address.as_str(), address.name(), address.kind()), (stored, name, Some(kind)));
        assert_eq!(Address::parse(address.as_str()).unwrap(), address, "the stored form is stable");
    }

    #[rstest]
    #[case("", AddressError::Empty)]
    #[case("s3://", AddressError::Empty)]
    #[case("https:///x", AddressError::Empty)]
    #[case("s3.amazonaws.com", AddressError::Empty)]
    #[case("acc.blob.core.windows.net", AddressError::Empty)]
    #[case("a b.s3.amazonaws.com", AddressError::BadCharacter)]
    #[case("n.s3.amazonaws.com/dir", AddressError::ExtraPath)]
    #[case("acc.blob.core.windows.net/box/dir", AddressError::ExtraPath)]
    fn invalid_addresses_are_rejected(#[case] given: &str, #[case] error: AddressError) {
        assert_eq!(Address::parse(given), Err(error), "{given}");
    }

    #[test]
    fn addresses_of_one_bucket_have_the_same_key() {
        for same in [
            &[
                "s3://n",
                "n.s3-eu-west-1.amazonaws.com",
                "s3.dualstack.us-east-1.amazonaws.com/n",
                "n.s3.amazonaws.com.",
                "n.s3.amazonaws.com:80",
                "n.s3-fips.us-east-1.amazonaws.com",
                "s3-fips.dualstack.us-east-1.amazonaws.com/n",
                "n.s3-website.eu-central-1.amazonaws.com",
                "n.s3-website-us-east-1.amazonaws.com",
                "n.s3-accelerate.amazonaws.com",
                "n.s3-accelerate.dualstack.amazonaws.com",
            ][..],
            &["n.s3.cn-north-1.amazonaws.com.cn", "s3.cn-northwest-1.amazonaws.com.cn/n"],
            &[
                "n.oss-cn-hangzhou.aliyuncs.com",
                "n.oss-cn-hangzhou-internal.aliyuncs.com",
                "n.s3.oss-cn-hangzhou.aliyuncs.com",
                "s3.oss-cn-hangzhou.aliyuncs.com/n",
            ],
            &["n.fra1.digitaloceanspaces.com", "n.fra1.cdn.digitaloceanspaces.com"],
            &["n.nyc3.digitaloceanspaces.com"],
            &[
                "gs://n",
                "storage.googleapis.com/n",
                "n.commondatastorage.googleapis.com",
                "commondatastorage.googleapis.com/n",
                "storage-download.googleapis.com/n",
                "storage.cloud.google.com/n",
                "storage.mtls.googleapis.com/n",
            ],
            &[
                "n.blob.core.windows.net/a",
                "n-secondary.blob.core.windows.net/a",
                "n.dfs.core.windows.net/a",
            ],
            &["n.blob.core.windows.net/b"],
            &["n.example.org", "n.example.org.", "\u{ff4e}.example.org", "%6e.example.org"],
            &["n.example.org:8080", "n.example.org.:8080"],
            &["s3://n.n"],
        ]
        .windows(2)
        {
            let [one, next] = same else { unreachable!() };
            let key = bucket_key_of(one[0]);
            assert!(one.iter().all(|address| bucket_key_of(address) == key), "{one:?}");
            assert!(next.iter().all(|address| bucket_key_of(address) != key), "{next:?}");
        }
    }

    #[test]
    fn custom_domains_need_a_type() {
        let typed = |kind| Address::parse_typed("Files.Example.org", kind);
        assert_eq!(typed(None), Err(AddressError::UnknownProvider));
        let (address, kind) = typed(Some(BucketType::Gcp)).unwrap();
        assert_eq!((address.as_str(), kind), ("files.example.org", BucketType::Gcp));
        let wrong = Address::parse_typed("n.s3.amazonaws.com", Some(BucketType::Gcp));
        assert_eq!(wrong, Err(AddressError::WrongType));
    }
}
