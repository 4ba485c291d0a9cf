//! Prepares untrusted text for storage.

/// Maximum length of a reason, in bytes. Reasons can quote the source.
const LONGEST_REASON: usize = 300;

/// Shortens a reason.
pub(super) fn shortened(reason: &str) -> String {
    let Some((cut, _)) = reason.char_indices().find(|(at, _)| *at >= LONGEST_REASON) else {
        return reason.to_owned();
    };
    format!("{}…", &reason[..cut])
}

/// Replaces NULs, since PostgreSQL can't store them in text.
pub(super) fn printable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_short_and_without_nuls() {
        let long = "é\0".repeat(300);
        let stored = printable(&shortened(&long));
        assert!(stored.len() < 520 && stored.ends_with('…') && !stored.contains('\0'), "{stored}");
        assert_eq!(printable(&shortened("a\0b")), "a\u{fffd}b");
    }
}
