//! Parses `CLUSTER_URL` without ever printing its credentials.

use std::fmt;

use percent_encoding::percent_decode_str;
use reqwest::Url;

use super::error::ClusterError;

/// Cluster address and login credentials.
#[derive(Clone)]
pub(super) struct Target {
    /// URL of the first server. The credentials and the database have been stripped.
    pub(super) base: Url,
    pub(super) user: String,
    pub(super) password: String,
    pub(super) database: String,
}

impl Target {
    /// Parses `http(s)://user:password@host:port/?database=name`.
    pub(super) fn parse(text: &str) -> Result<Self, ClusterError> {
        let wrong = |why: &str| ClusterError::Invalid(format!("CLUSTER_URL: {why}"));
        // Don't show the parser's own error, which could quote the password.
        let mut base = Url::parse(text).map_err(|_| wrong("it is not a URL"))?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            return Err(wrong("it must start with http:// or https:// and name a host"));
        }
        let decoded = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let user = decoded(base.username());
        let password = decoded(base.password().unwrap_or_default());
        let named = base.query_pairs().find(|(name, _)| name == "database");
        let database = named.map_or_else(|| "default".to_owned(), |(_, value)| value.into_owned());
        if !is_name(&database) {
            return Err(wrong("the database name must consist of letters, digits and _"));
        }
        base.set_query(None);
        base.set_fragment(None);
        if base.set_username("").is_err() || base.set_password(None).is_err() {
            return Err(wrong("it must not contain a user"));
        }
        let user = if user.is_empty() { "default".to_owned() } else { user };
        Ok(Self { base, user, password, database })
    }

    /// Returns the URL of another server in the cluster.
    pub(super) fn at_host(&self, host: &str) -> Result<Url, ClusterError> {
        let mut url = self.base.clone();
        let bracketed = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        url.set_host(Some(&bracketed))
            .map_err(|_| ClusterError::Invalid(format!("{host} is not a valid server name")))?;
        Ok(url)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Target({}, database {})", self.base, self.database)
    }
}

/// Returns `true` if a string is safe to use as a database or cluster name in SQL.
pub(super) fn is_name(text: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty()
        && text.bytes().all(fine)
        && !text.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_removed_from_url() {
        let target =
            Target::parse("https://us%40er:pass%2Fword@host:8443/?database=files").unwrap();
        assert_eq!(target.base.as_str(), "https://host:8443/");
        assert_eq!((target.user.as_str(), target.password.as_str()), ("us@er", "pass/word"));
        assert_eq!(target.database, "files");
        assert!(!format!("{target:?}").contains("pass"));
        assert_eq!(target.at_host("::1").unwrap().as_str(), "https://[::1]:8443/");
        assert_eq!(target.at_host("other").unwrap().as_str(), "https://other:8443/");
    }

    #[test]
    fn invalid_url_is_not_quoted() {
        for text in
            ["secret", "ftp://u:secret@host/", "http://u:secret@:9/", "http://h/?database=a;b"]
        {
            let error = Target::parse(text).unwrap_err().to_string();
            assert!(error.starts_with("CLUSTER_URL") && !error.contains("secret"), "{error}");
        }
    }
}
