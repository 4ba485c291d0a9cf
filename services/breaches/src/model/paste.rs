//! Pastes: documents on paste sites that contain addresses.

/// A paste without its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paste {
    /// The site it was posted on.
    pub source: String,
    /// Id on that site.
    pub id: String,
    /// Title on that site, if any.
    pub title: Option<String>,
    /// When it was posted, in Unix seconds.
    pub date: Option<i64>,
    /// Number of addresses in it.
    pub email_count: i64,
}

/// Checks that a source name consists of 1 to 32 ASCII letters.
pub fn is_source(text: &str) -> bool {
    (1..=32).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns `true` for sources that mark opted-out records, which are never returned.
pub fn is_opt_out_mark(source: &str) -> bool {
    matches!(source, "PermanentOptOut" | "OptOut")
}

/// Sorts by date (newest first, unknown dates last), then by source and id.
pub fn sort(pastes: &mut [Paste]) {
    pastes.sort_by(|a, b| (b.date, &a.source, &a.id).cmp(&(a.date, &b.source, &b.id)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pastes_are_sorted_newest_first_with_unknown_dates_last() {
        let paste = |id: &str, date| Paste {
            source: "Pastebin".into(),
            id: id.into(),
            title: None,
            date,
            email_count: 1,
        };
        let mut pastes =
            [paste("c", None), paste("b", Some(1)), paste("d", Some(2)), paste("a", Some(1))];
        sort(&mut pastes);
        let ids: Vec<_> = pastes.iter().map(|paste| paste.id.as_str()).collect();
        assert_eq!(ids, ["d", "a", "b", "c"]);
        assert!(is_source("AdHocUrl") && !is_source("Ad Hoc") && !is_source(""));
    }
}
