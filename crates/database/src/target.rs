//! Database URLs.

use std::path::{Path, PathBuf};

use crate::{Backend, DatabaseError};

/// The error for a PostgreSQL URL that libpq can't parse, or would parse differently than intended.
pub(crate) const MALFORMED: &str = "DATABASE_URL is not a well-formed PostgreSQL URL: use \
    postgres://USER:PASSWORD@HOST:PORT/DATABASE, and encode special characters in the user name, \
    password and options, for example @ as %40 and / as %2F";

/// The database that a URL points to.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL URL. It is never printed because it might contain a password.
    Postgres(String),
}

impl Target {
    /// Parses a `sqlite`, `postgres` or `postgresql` URL.
    pub fn parse(url: &str) -> Result<Self, DatabaseError> {
        let url = url.trim();
        if url.is_empty() {
            return Err(DatabaseError::Setup(
                "DATABASE_URL is empty: set a URL, or unset it for a SQLite file".to_owned(),
            ));
        }
        let refuse = |what: &str| {
            DatabaseError::Setup(format!(
                "DATABASE_URL must start with sqlite:// or postgres://, {what}"
            ))
        };
        let (scheme, rest) = url.split_once(':').ok_or_else(|| refuse("it has no scheme"))?;
        match (scheme.to_ascii_lowercase().as_str(), rest.strip_prefix("//")) {
            ("sqlite", Some("" | "/")) => Err(DatabaseError::Setup(
                "DATABASE_URL does not contain a path: use sqlite://PATH".to_owned(),
            )),
            ("sqlite", Some(path)) => Ok(Self::Sqlite(PathBuf::from(path))),
            ("postgres" | "postgresql", Some(rest)) => match is_ambiguous(rest) {
                true => Err(DatabaseError::Setup(MALFORMED.to_owned())),
                false => Ok(Self::Postgres(format!("postgres://{rest}"))),
            },
            (_, slashes) if is_scheme(scheme, slashes.is_some()) => {
                Err(refuse(&format!("not with {scheme}:")))
            }
            _ => Err(refuse("it has no scheme")),
        }
    }

    /// Returns the kind of database.
    pub fn backend(&self) -> Backend {
        match self {
            Self::Sqlite(_) => Backend::Sqlite,
            Self::Postgres(_) => Backend::Postgres,
        }
    }

    /// Returns the path `NAME.db` in the data folder, the default for all services.
    pub fn file_in(data_dir: &Path, name: &str) -> Self {
        Self::Sqlite(data_dir.join(format!("{name}.db")))
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => f.debug_tuple("Sqlite").field(path).finish(),
            Self::Postgres(_) => f.write_str("Postgres(..)"),
        }
    }
}

/// Splits off the user name and password from the part of a PostgreSQL URL after `//`. Like libpq,
/// ends them at the first `@`. They can contain question marks, but not slashes.
pub(crate) fn split_user(rest: &str) -> (&str, &str) {
    match rest.split_once('@') {
        Some((user, server)) if !user.contains('/') => (user, server),
        _ => ("", rest),
    }
}

/// Returns whether the part of a PostgreSQL URL after `//` has special characters that libpq might
/// interpret differently than intended. libpq could mistake the rest of a password for the host and
/// quote it in errors.
fn is_ambiguous(rest: &str) -> bool {
    let (user, server) = split_user(rest);
    let (place, options) = server.split_once('?').unwrap_or((server, ""));
    // A host with options that contain an `@`.
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_host = |text: &str| text.split_once(':').is_none_or(|(_, port)| is_port(port));
    let has_host =
        user.split_once('?').is_some_and(|(host, options)| is_host(host) && options.contains('='));
    // A password that contains `@` and `?`, with the actual host after it.
    let has_password = !place.contains('/') && options.contains('@') && options.contains('/');
    has_host || has_password || place.contains('@')
}

/// Adds an option such as `sslmode=require` to a PostgreSQL URL.
///
/// ```
/// let url = database::with_option("postgres://h/d?sslmode=require", "connect_timeout=5");
/// assert_eq!(url, "postgres://h/d?sslmode=require&connect_timeout=5");
/// ```
pub fn with_option(url: &str, option: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (_, server) = split_user(rest);
    let joint = if server.contains('?') { '&' } else { '?' };
    format!("{url}{joint}{option}")
}

/// Returns whether a string can safely be printed as a scheme. Anything else could be a user name
/// or part of a password, in particular if `//` doesn't follow.
fn is_scheme(text: &str, has_slashes: bool) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_known = ["sqlite", "postgres", "postgresql"].contains(&text);
    is_known || has_slashes && (2..=16).contains(&text.len()) && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        Target::parse(url).unwrap_err().to_string()
    }

    #[test]
    fn scheme_selects_the_database() {
        let file = Target::parse("sqlite:///var/lib/a.db").unwrap();
        assert_eq!(file, Target::Sqlite("/var/lib/a.db".into()));
        assert_eq!(
            Target::parse("PostgreSQL://u@h/d").unwrap(),
            Target::Postgres("postgres://u@h/d".into())
        );
    }

    #[test]
    fn other_schemes_are_refused_by_name() {
        assert!(refusal("mysql://u:secret@h/d").ends_with("not with mysql:"));
        assert!(!refusal("mysql://u:secret@h/d").contains("secret"));
        assert!(refusal("postgre://h/d").ends_with("not with postgre:"));
    }

    #[test]
    fn credentials_with_special_characters_must_be_encoded() {
        for url in [
            "postgres://u:a@b@h/d",
            "postgres://u:1/b@h/d",
            "postgres://u:a@b/c@h/d",
            "postgres://u:a?b/c@h/d?x=y",
            "postgres://u:a?b@c@h/d",
            "postgres://u:a@b?options=c@h/d",
            // libpq treats everything before the `@` as the user name.
            "postgres://h?user=u&password=a@b",
            "postgres://h:5432?user=u&password=a@b",
        ] {
            assert_eq!(refusal(url), MALFORMED);
        }
        for url in [
            "postgres://u:a%40b%2Fc?d@h/d",
            "postgres://h/d?user=a@b",
            "postgres://u:a@h/d?application_name=b@c?d",
            "postgres://u:a@h?application_name=b@c",
            "postgres://u:a?b=c@h/d",
            "postgres:///d?host=/run/postgresql",
            "postgres://%2Frun%2Fpostgresql/d",
        ] {
            assert!(Target::parse(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn question_mark_in_a_password_does_not_start_the_options() {
        for (url, expected) in [
            ("postgres://u:a?b@h/d", "postgres://u:a?b@h/d?x=y"),
            ("postgres://u:a?b@h/d?v=w", "postgres://u:a?b@h/d?v=w&x=y"),
            ("postgres://h/d?user=a@b", "postgres://h/d?user=a@b&x=y"),
            ("postgres://h?v=w", "postgres://h?v=w&x=y"),
            ("postgres://h", "postgres://h?x=y"),
        ] {
            assert_eq!(with_option(url, "x=y"), expected);
        }
    }

    #[test]
    fn plain_paths_are_refused() {
        assert!(refusal("data/a.db").ends_with("it has no scheme"));
        assert!(refusal("sqlite:data/a.db").ends_with("not with sqlite:"));
        assert!(refusal("sqlite://").contains("does not contain a path"));
    }
}
