//! Links the pages of a listing, so that missing pages are detected.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::fingerprint::fingerprint;

/// How a page is linked to its neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The token that the page continues from.
    pub token: Option<String>,
    /// The key or marker that the page continues after.
    pub after: Option<String>,
    /// The token or marker for the next page.
    pub next: Option<String>,
    /// Name of the bucket.
    pub name: Option<String>,
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
    /// Name of the bucket.
    #[serde(default)]
    name: Option<String>,
    /// Whether the page names the token or marker that it continues from. If so, the next page does,
    /// too.
    #[serde(default)]
    has_start: bool,
}

impl PageEnd {
    /// Returns `true` if this is the end of a page whose last key, or marker for the next page,
    /// begins with a prefix.
    pub fn is_below(&self, prefix: &str) -> bool {
        [&self.next, &self.last].into_iter().flatten().any(|name| name.starts_with(prefix))
    }

    fn fingerprints(&self) -> (Option<u64>, Option<u64>) {
        let place = |text: &String| place(self.name.as_deref(), text);
        (self.next.as_ref().map(place), self.last.as_ref().map(place))
    }
}

/// Returns the fingerprint of a token, key or marker in the listing of the named bucket.
fn place(name: Option<&str>, text: &str) -> u64 {
    name.map_or_else(|| fingerprint(text), |name| fingerprint(&format!("{name}/{text}")))
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
        let is_next = match (&self.token, &self.after) {
            (Some(_), _) => self.token == end.next,
            (None, Some(_)) => self.after == end.next || self.after == end.last,
            (None, None) => !end.has_start && self.first > end.last,
        };
        is_next && self.name == end.name
    }

    /// Returns the end of this page. `before` is the end of the previous page.
    pub fn end(self, before: Option<PageEnd>) -> PageEnd {
        PageEnd {
            has_start: self.token.is_some() || self.after.is_some(),
            next: self.next,
            name: self.name,
            last: self.last.or(before.and_then(|end| end.last)),
        }
    }
}

/// Pages that were read before or after other pages than their neighbours in the listing. Pages can
/// be in any order if they contain the token or marker that they continue from.
///
/// Stores fingerprints, because markers can be names of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoosePages {
    /// Starts of pages that continue a page that hasn't been read yet.
    starts: BTreeSet<Start>,
    /// Ends of truncated pages whose next page hasn't been read yet: the token or marker for the
    /// next page, and the last key.
    ends: BTreeSet<(Option<u64>, Option<u64>)>,
}

/// The token, key or marker that a page continues from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Start {
    Token(u64),
    /// After a key or marker.
    After(u64),
}

impl LoosePages {
    /// Number of pages.
    pub fn count(&self) -> usize {
        self.starts.len() + self.ends.len()
    }

    /// Returns `true` if a page continues a page that hasn't been read.
    pub fn has_starts(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Returns `true` if the page after a truncated page hasn't been read.
    pub fn has_ends(&self) -> bool {
        !self.ends.is_empty()
    }

    /// Adds the end of a truncated page.
    pub fn add_end(&mut self, end: &PageEnd) {
        self.ends.insert(end.fingerprints());
    }

    /// Joins a page that continues another one to the page before it, or adds its start if that page
    /// hasn't been read yet.
    pub fn join_start(&mut self, link: &Link) {
        let place = |text: &String| place(link.name.as_deref(), text);
        let start = match (&link.token, &link.after) {
            (Some(token), _) => Start::Token(place(token)),
            (None, Some(after)) => Start::After(place(after)),
            (None, None) => return,
        };
        let is_before = |(next, last): &(Option<u64>, Option<u64>)| match start {
            Start::Token(token) => *next == Some(token),
            Start::After(key) => *next == Some(key) || *last == Some(key),
        };
        if let Some(end) = self.ends.iter().copied().find(is_before) {
            self.ends.remove(&end);
        } else {
            self.starts.insert(start);
        }
    }

    /// Joins a truncated page to the page after it. Returns `false` if that page hasn't been read
    /// yet.
    pub fn join_end(&mut self, end: &PageEnd) -> bool {
        let (next, last) = end.fingerprints();
        let starts = [next.map(Start::Token), next.map(Start::After), last.map(Start::After)];
        starts.iter().flatten().any(|start| self.starts.remove(start))
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
        let end = PageEnd { next: some("t"), last: some("a"), name: None, has_start: false };
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
        assert_eq!(empty.last, end.last, "a page without keys keeps the last key");
    }

    #[test]
    fn first_page_does_not_follow_a_page_that_names_its_start() {
        let mut first = Link::default();
        first.add_key("b");
        for (token, after) in [("t", ""), ("", "a")] {
            for key in ["", "a"] {
                let mut page = Link { token: some(token), after: some(after), ..Link::default() };
                if !key.is_empty() {
                    page.add_key(key);
                }
                assert!(!first.follows(&page.end(None)), "{token} {after} {key}");
            }
        }
        assert!(first.follows(&Link::default().end(None)), "no page names its start");
    }

    #[test]
    fn pages_are_joined_in_any_order() {
        let page = |number: usize| {
            let token = |number: usize| (1..4).contains(&number).then(|| format!("T{number}"));
            let mut link =
                Link { token: token(number), next: token(number + 1), ..Link::default() };
            link.add_key(&format!("key {number}"));
            link
        };
        for order in [[3, 1, 0, 2], [0, 3, 2, 1], [3, 2, 1, 0], [1, 3, 0, 2]] {
            let mut loose = LoosePages::default();
            for (place, number) in order.into_iter().enumerate() {
                let link = page(number);
                loose.join_start(&link);
                let end = link.end(None);
                if number < 3 && !loose.join_end(&end) {
                    loose.add_end(&end);
                }
                assert_eq!(loose.count() == 0, place == 3, "{order:?} as far as {number}");
            }
            assert!(!loose.has_starts() && !loose.has_ends());
        }
    }

    #[test]
    fn page_that_starts_after_a_key_is_joined_by_the_last_key() {
        let mut first = Link::default();
        first.add_key("a");
        let second = Link { after: some("a"), ..Link::default() };
        let other = Link { after: some("b"), ..Link::default() };
        let mut loose = LoosePages::default();
        loose.join_start(&other);
        assert!(!loose.join_end(&first.clone().end(None)), "it continues another page");
        loose.join_start(&second);
        assert!(loose.join_end(&first.end(None)));
        assert!(loose.has_starts() && !loose.has_ends());
    }
}
