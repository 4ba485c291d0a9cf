//! Allow and deny lists for crawls.

use std::str::FromStr;

use super::address::{Address, BucketType, bucket_key_of, provider_of};

/// A bucket address, a host (for all its buckets), or `*.DOMAIN` for all hosts in a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketPattern(String);

impl FromStr for BucketPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pattern = text.trim().trim_end_matches('/').to_lowercase();
        let rest = pattern.strip_prefix("*.").unwrap_or(&pattern);
        let is_valid = !rest.is_empty() && !rest.contains("://") && !rest.contains(['*', ' ']);
        if is_valid {
            Ok(Self(pattern))
        } else {
            Err("must be a bucket address, a host or *.DOMAIN".to_owned())
        }
    }
}

impl BucketPattern {
    /// Returns `true` if the pattern matches `address`, which must not have a scheme. The address of
    /// a bucket also matches its other addresses, e.g. in other regions. Likewise, the host of a
    /// storage account matches its other hosts.
    fn covers(&self, address: &str) -> bool {
        let address = address.trim_end_matches('/').to_lowercase();
        match self.0.strip_prefix("*.") {
            Some(domain) => {
                let host = address.split(['/', ':']).next().unwrap_or_default();
                host.strip_suffix(domain).is_some_and(|front| front.ends_with('.'))
            }
            None => {
                let rest = address.strip_prefix(&self.0);
                let is_account = provider_of(&self.0) == Some(BucketType::Azure);
                let own = match address.split_once('/').filter(|_| is_account) {
                    Some((_, container)) => Address::parse(&format!("{}/{container}", self.0)),
                    None => Address::parse(&self.0),
                };
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
                    || own.is_ok_and(|own| {
                        own.kind().is_some() && own.bucket_key() == bucket_key_of(&address)
                    })
            }
        }
    }
}

/// Decides which buckets we are allowed to crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrawlLists {
    /// If not empty, only crawl these buckets.
    pub allow: Vec<BucketPattern>,
    /// Never crawl these buckets, even if `allow` includes them.
    pub deny: Vec<BucketPattern>,
}

impl CrawlLists {
    /// Returns `true` if we are allowed to crawl `bucket` at `url`.
    pub fn permit(&self, bucket: &str, url: &str) -> bool {
        let place = url.split_once("://").map_or(url, |(_, place)| place);
        let covers = |pattern: &BucketPattern| pattern.covers(bucket) || pattern.covers(place);
        !self.deny.iter().any(covers) && (self.allow.is_empty() || self.allow.iter().any(covers))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("photos.s3.amazonaws.com", "photos.s3.amazonaws.com", true)]
    #[case("photos.s3.amazonaws.com/", "Photos.S3.amazonaws.com", true)]
    #[case("photos.s3.amazonaws.com", "other-photos.s3.amazonaws.com", false)]
    #[case("photos.s3.amazonaws.com", "photos.s3.eu-west-1.amazonaws.com", true)]
    #[case("photos.s3.amazonaws.com", "s3.eu-west-1.amazonaws.com/photos", true)]
    #[case("photos.s3.amazonaws.com", "photos.oss-cn-hangzhou.aliyuncs.com", false)]
    #[case("s3.amazonaws.com", "photos.s3.eu-west-1.amazonaws.com", false)]
    #[case("acc.blob.core.windows.net", "acc.blob.core.windows.net/box", true)]
    #[case("acc.blob.core.windows.net", "acc-secondary.blob.core.windows.net/box", true)]
    #[case("acc.blob.core.windows.net", "acc.dfs.core.windows.net/box", true)]
    #[case("acc.blob.core.windows.net", "other.dfs.core.windows.net/box", false)]
    #[case("acc.blob.core.windows.net/box", "acc.dfs.core.windows.net/other", false)]
    #[case("*.amazonaws.com", "photos.s3.amazonaws.com", true)]
    #[case("*.amazonaws.com", "amazonaws.com", false)]
    #[case("*.amazonaws.com", "photos.s3.amazonaws.com.example.org", false)]
    #[case("*.example.org", "files.example.org:9000/box", true)]
    #[case("files.example.org", "files.example.org/box", true)]
    #[case("files.example.org", "files.example.org:9000/box", true)]
    #[case("files.example.org/box", "files.example.org/boxes", false)]
    #[case("files.example.org", "files.example.organic/box", false)]
    fn patterns_cover_buckets_hosts_and_domains(
        #[case] pattern: &str,
        #[case] address: &str,
        #[case] expected: bool,
    ) {
        let pattern: BucketPattern = pattern.parse().unwrap();
        assert_eq!(pattern.covers(address), expected);
    }

    #[test]
    fn unclear_patterns_are_refused() {
        for text in ["", "*", "*.", "https://a.example", "a*.example", "a b"] {
            assert!(text.parse::<BucketPattern>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn denied_buckets_are_not_permitted_even_if_allowed() {
        let lists = |allow: &[&str], deny: &[&str]| {
            let patterns = |texts: &[&str]| texts.iter().map(|one| one.parse().unwrap()).collect();
            CrawlLists { allow: patterns(allow), deny: patterns(deny) }
        };
        let bucket = "photos.s3.amazonaws.com";
        let permit = |lists: CrawlLists| lists.permit(bucket, "http://10.0.0.1:9000/photos/");
        assert!(permit(lists(&[], &[])));
        assert!(permit(lists(&["*.amazonaws.com"], &["*.example.org"])));
        assert!(!permit(lists(&["*.example.org"], &[])));
        assert!(!permit(lists(&["*.amazonaws.com"], &["photos.s3.amazonaws.com"])));
        assert!(!permit(lists(&[], &["10.0.0.1"])), "the host that would be requested");
    }
}
