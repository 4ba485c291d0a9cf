//! HTML elements that are allowed in stored text.

/// Inline elements.
pub(super) const INLINE: [&str; 22] = [
    "a", "abbr", "b", "br", "cite", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "s",
    "small", "span", "strong", "sub", "sup", "time", "u", "var",
];

/// Block elements. See [`TABLE_PARTS`] for the rest.
pub(super) const BLOCKS: [&str; 34] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "caption",
    "col",
    "colgroup",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "ul",
];

/// Table parts that are also block elements.
pub(super) const TABLE_PARTS: [&str; 3] = ["th", "thead", "tr"];

/// Returns whether an element is a block. List items and table parts count as blocks.
pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name) || TABLE_PARTS.contains(&name)
}

/// Returns whether an element is a heading.
pub(super) fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}
