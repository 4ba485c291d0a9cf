//! Sanitizing of HTML on the way in.

use std::collections::HashSet;
use std::sync::OnceLock;

use ammonia::Builder;

use super::elements::{BLOCKS, INLINE, TABLE_PARTS};
use super::parse_cost::is_too_costly;

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

/// Sanitizes a long text with the allow-list; disallowed tags go, their text stays. `None` for a
/// text whose tags a parser would repeat many times over.
pub fn sanitize(text: &str) -> Option<String> {
    static FULL: OnceLock<Builder<'static>> = OnceLock::new();
    (!is_too_costly(text)).then(|| sanitize_with(text, FULL.get_or_init(|| builder(true))))
}

/// Sanitizes a title or a name, where only inline tags are allowed; it is too short to be costly.
pub fn sanitize_inline(text: &str) -> String {
    static SHORT: OnceLock<Builder<'static>> = OnceLock::new();
    sanitize_with(text, SHORT.get_or_init(|| builder(false)))
}

fn sanitize_with(text: &str, builder: &Builder<'static>) -> String {
    // What the cleaner would rewrite; everything else it leaves as it is.
    if !text.contains(['<', '>', '&', '\u{a0}']) {
        return text.to_owned();
    }
    builder.clean(text).to_string().replace("&amp;", "&#038;")
}
