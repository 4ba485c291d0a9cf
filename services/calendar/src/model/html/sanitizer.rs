//! Sanitizes HTML input.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

use ammonia::Builder;

use super::elements::{BLOCKS, INLINE, TABLE_PARTS};
use super::parse_cost::is_too_costly;

/// The characters that the cleaner escapes or that can start a tag.
const REWRITTEN: [char; 4] = ['<', '>', '&', '\u{a0}'];

fn builder(blocks: bool) -> Builder<'static> {
    let mut tags: HashSet<&str> = INLINE.into_iter().collect();
    if blocks {
        tags.extend(BLOCKS);
        tags.extend(TABLE_PARTS);
        tags.insert("img");
    }
    let mut builder = Builder::empty();
    builder
        .tags(tags)
        .add_tag_attributes("a", ["href", "title", "rel", "target"])
        .url_schemes(["http", "https", "mailto", "tel"].into_iter().collect())
        .link_rel(None)
        .clean_content_tags(HashSet::new())
        .strip_comments(true);
    if blocks {
        builder.add_tag_attributes("img", ["src", "alt", "width", "height"]);
    }
    builder
}

/// Sanitizes long text with an allow-list. Disallowed tags are removed, but their content is kept.
/// Returns `None` if the text would be too expensive to parse.
pub fn sanitize(text: &str) -> Option<String> {
    static FULL: OnceLock<Builder<'static>> = OnceLock::new();
    let full = FULL.get_or_init(|| builder(true));
    if !text.contains('<') {
        return Some(sanitize_with(&in_parts(text), full));
    }
    (!is_too_costly(text)).then(|| sanitize_with(text, full))
}

/// Number of bytes of text without tags to serialize at a time.
const PART: usize = 4096;

/// Splits a long string without tags by inserting comments, which the cleaner removes again. For
/// each escaped character, the cleaner scans ahead to the next tag or comment, which would
/// otherwise take quadratic time.
fn in_parts(text: &str) -> Cow<'_, str> {
    if text.len() <= PART {
        return Cow::Borrowed(text);
    }
    let (mut parts, mut begin, mut last) = (String::with_capacity(text.len() + 64), 0, ' ');
    for (at, c) in text.char_indices() {
        // An entity can't extend across this position.
        if at - begin >= PART && (last == ' ' || REWRITTEN.contains(&c)) {
            parts.push_str(&text[begin..at]);
            parts.push_str("<!---->");
            begin = at;
        }
        last = c;
    }
    parts.push_str(&text[begin..]);
    Cow::Owned(parts)
}

/// Returns whether the cleaner could change the text.
pub fn is_rewritten(text: &str) -> bool {
    text.contains(REWRITTEN)
}

/// Sanitizes a title or name. Only inline tags are allowed. These strings are too short to be
/// expensive.
pub fn sanitize_inline(text: &str) -> String {
    static SHORT: OnceLock<Builder<'static>> = OnceLock::new();
    sanitize_with(text, SHORT.get_or_init(|| builder(false)))
}

fn sanitize_with(text: &str, builder: &Builder<'static>) -> String {
    if !is_rewritten(text) {
        return text.to_owned();
    }
    builder.clean(text).to_string().replace("&amp;", "&#038;")
}
