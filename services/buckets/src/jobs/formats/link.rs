//! Links the pages of a listing, so that missing pages are detected.

use serde::{Deserialize, Serialize};

/// How a page is linked to its neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The token that the page continues from.
    pub token: Option<String>,
    /// The key or marker that the page continues after.
    pub after: Option<String>,
    /// The token or marker for the next page.
    pub next: Option<String>,
    first: Option<String>,
    last: Option<String>,
}

/// The end of a truncated page, where the next page should continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageEnd {
    /// The token or marker for the next page.
    next: Option<String>,
    /// The last key so far.
    last: Option<String>,
}

impl PageEnd {
    /// Returns `true` if this is the end of a page whose last key, or marker for the next page,
    /// begins with a prefix.
    pub fn is_below(&self, prefix: &str) -> bool {
        [&self.next, &self.last].into_iter().flatten().any(|name| name.starts_with(prefix))
    }
}

impl Link {
    /// Adds a key. Call this in the order of the page.
    pub(super) fn add_key(&mut self, key: &str) {
        if self.first.is_none() {
            self.first = Some(key.to_owned());
        }
        key.clone_into(self.last.get_or_insert_default());
    }

    /// Returns `true` if this page continues from `end`. Compares the keys if there's neither a
    /// token nor a marker.
    pub fn follows(&self, end: &PageEnd) -> bool {
        match (&self.token, &self.after) {
            (Some(_), _) => self.token == end.next,
            (None, Some(_)) => self.after == end.next || self.after == end.last,
            (None, None) => self.first > end.last,
        }
    }

    /// Returns the end of this page. `before` is the end of the previous page.
    pub fn end(self, before: Option<PageEnd>) -> PageEnd {
        PageEnd { next: self.next, last: self.last.or(before.and_then(|end| end.last)) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn some(text: &str) -> Option<String> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    #[rstest]
    #[case::token("t", "", "b", true)]
    #[case::other_token("u", "", "b", false)]
    #[case::token_counts_before_start("t", "0", "b", true)]
    #[case::marker("", "t", "b", true)]
    #[case::last_key("", "a", "b", true)]
    #[case::other_key("", "aa", "b", false)]
    #[case::key_above("", "", "b", true)]
    #[case::key_below("", "", "a", false)]
    #[case::no_key("", "", "", false)]
    fn page_follows_end(
        #[case] token: &str,
        #[case] after: &str,
        #[case] key: &str,
        #[case] expected: bool,
    ) {
        let end = PageEnd { next: some("t"), last: some("a") };
        let mut link = Link { token: some(token), after: some(after), ..Link::default() };
        if !key.is_empty() {
            link.add_key(key);
        }
        assert_eq!(link.follows(&end), expected);
    }

    #[test]
    fn end_without_token_is_followed_by_key_only() {
        let mut page = Link::default();
        page.add_key("a");
        let end = page.end(None);
        let token = Link { token: some("t"), ..Link::default() };
        let after = Link { after: some("a"), ..Link::default() };
        assert!(!token.follows(&end) && after.follows(&end));
        let empty = after.end(Some(end.clone()));
        assert_eq!(empty, end, "a page without keys keeps the last key");
    }
}
