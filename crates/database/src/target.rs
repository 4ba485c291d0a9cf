//! Database URLs.

use std::path::{Path, PathBuf};

use crate::{Backend, DatabaseError};

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
            ("postgres" | "postgresql", Some(rest)) => {
                Ok(Self::Postgres(format!("postgres://{rest}")))
            }
            _ if is_scheme(scheme) => Err(refuse(&format!("not with {scheme}:"))),
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

/// Returns whether a string can safely be printed as a scheme. Anything else could be part of a
/// password.
fn is_scheme(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (2..=16).contains(&text.len()) && text.chars().all(plain)
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
    fn plain_paths_are_refused() {
        assert!(refusal("data/a.db").ends_with("it has no scheme"));
        assert!(refusal("sqlite:data/a.db").ends_with("not with sqlite:"));
        assert!(refusal("sqlite://").contains("does not contain a path"));
    }
}
