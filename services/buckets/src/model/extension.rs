//! Finds the extensions of file names, and parses extension filters.

use super::path;

/// Maximum length of an extension, in bytes.
pub const LONGEST: usize = 32;
/// Maximum number of dot-separated parts in an extension.
pub const MOST_PARTS: usize = 3;

/// Error for invalid extension filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidExtension {
    /// The filter is empty.
    #[error("must name extensions, such as pdf or tar.gz")]
    Empty,
    /// The filter is a pattern or a path.
    #[error("must be plain extensions, without * and /: pdf instead of *.pdf")]
    Pattern,
    /// The filter is too long to match anything.
    #[error("must have at most {MOST_PARTS} parts and {LONGEST} bytes each")]
    TooLong,
}

/// Parses an extension filter. Trims it, strips leading dots and converts it to lower case.
///
/// ```
/// use buckets::model::extension::parse;
///
/// assert_eq!(parse(" .TAR.gz "), Ok("tar.gz".to_owned()));
/// assert!(parse(".").is_err());
/// assert!(parse("*.pdf").is_err());
/// assert!(parse("a.b.c.d").is_err());
/// ```
pub fn parse(text: &str) -> Result<String, InvalidExtension> {
    let text = path::fold(text.trim().trim_start_matches('.'));
    if text.is_empty() {
        Err(InvalidExtension::Empty)
    } else if text.contains(['*', '/']) {
        Err(InvalidExtension::Pattern)
    } else if text.len() > LONGEST || text.split('.').count() > MOST_PARTS {
        Err(InvalidExtension::TooLong)
    } else {
        Ok(text)
    }
}

/// Returns whether a filter can contain this extension. Since filters are comma-separated lists,
/// some extensions can't be written in a filter.
fn is_nameable(suffix: &str) -> bool {
    suffix.trim() == suffix && !suffix.contains(['*', ','])
}

/// Calls `each` with every extension of a file name, shortest first.
pub fn for_each(file_name: &str, mut each: impl FnMut(&str)) {
    if !file_name.contains('.') {
        return;
    }
    let lower = path::fold(file_name);
    let dots = lower.bytes().enumerate().rev().filter(|&(_, byte)| byte == b'.');
    for (dot, _) in dots.take(MOST_PARTS) {
        let suffix = &lower[dot + 1..];
        if suffix.len() > LONGEST {
            return;
        }
        if !suffix.is_empty() && !suffix.starts_with('.') && is_nameable(suffix) {
            each(suffix);
        }
    }
}

/// Returns the shortest extension of a file name, or an empty string if there isn't one.
///
/// ```
/// use buckets::model::extension::shortest;
///
/// assert_eq!(shortest("a.TAR.gz"), "gz");
/// assert_eq!(shortest("README"), "");
/// ```
pub fn shortest(file_name: &str) -> String {
    let mut shortest = String::new();
    for_each(file_name, |suffix| {
        if shortest.is_empty() {
            suffix.clone_into(&mut shortest);
        }
    });
    shortest
}

/// Returns `true` if a file name has the extension. A simple reference implementation for
/// [`for_each`].
pub fn has(file_name: &str, extension: &str) -> bool {
    path::fold(file_name).strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a.tar.gz", &["gz", "tar.gz"])]
    #[case("jquery.min.js", &["js", "min.js"])]
    #[case(".env", &["env"])]
    #[case("README", &[])]
    #[case("x.", &[])]
    #[case("A.B.C.D.E", &["e", "d.e", "c.d.e"])]
    #[case("a..gz", &["gz"])]
    #[case("a.\u{e9}te ", &[])]
    #[case("a.b. c", &["b. c"])]
    #[case("a.b,c", &[])]
    #[case("a.b*", &[])]
    fn extensions_of_a_name(#[case] name: &str, #[case] expected: &[&str]) {
        let mut found = Vec::new();
        for_each(name, |extension| found.push(extension.to_owned()));
        assert_eq!(found, expected, "{name}");
        assert!(expected.iter().all(|extension| has(name, extension)));
    }

    #[test]
    fn long_extensions_are_rejected_and_not_indexed() {
        assert!(parse(&"x".repeat(33)).is_err());
        assert!(parse(&"x".repeat(32)).is_ok());
        for_each(&format!("a.{}", "x".repeat(33)), |_| panic!("too long to be asked for"));
    }

    proptest::proptest! {
        #[test]
        fn a_file_has_exactly_the_extensions_it_is_indexed_under(
            name in "[a-bB.]{0,12}", asked in "[ab.]{1,6}",
        ) {
            let mut found = false;
            let asked = parse(&asked);
            if let Ok(asked) = asked {
                for_each(&name, |extension| found |= extension == asked);
                proptest::prop_assert_eq!(found, has(&name, &asked));
            }
        }
    }
}
