//! Texts that hold HTML: cleaning on the way in, rendering on the way out.

use std::collections::HashSet;
use std::sync::OnceLock;

use ammonia::Builder;

use super::parse_cost::is_too_costly;

const INLINE: [&str; 22] = [
    "a", "abbr", "b", "br", "cite", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "s",
    "small", "span", "strong", "sub", "sup", "time", "u", "var",
];

const BLOCKS: [&str; 34] = [
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

const TABLE_PARTS: [&str; 3] = ["th", "thead", "tr"];

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

/// Cleans a longer text with the allow-list; disallowed tags go, their text stays. A text whose
/// tags are tangled so that they would become many times as many is refused.
pub fn sanitize(text: &str) -> Option<String> {
    static FULL: OnceLock<Builder<'static>> = OnceLock::new();
    (!is_too_costly(text)).then(|| sanitize_with(text, FULL.get_or_init(|| builder(true))))
}

/// Cleans a title or a name, where only inline tags may stand; too short to be tangled.
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

/// Writes every `&` that begins no entity as `&#038;`.
pub fn ampersands(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if c == '&' && entity(&text[at..]).is_none() {
            out.push_str("&#038;");
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns the entity at the beginning of a text that begins with `&`.
fn entity(text: &str) -> Option<&str> {
    let end = text.bytes().take(32).position(|byte| byte == b';')?;
    let name = &text[1..end];
    let body = name.strip_prefix('#').unwrap_or(name);
    let fits = !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| &text[..=end])
}

/// Replaces the entities that occur in practice by their characters.
pub fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = entity(rest).and_then(|entity| character(entity).map(|c| (entity.len(), c)));
        let (used, c) = found.unwrap_or((1, '&'));
        out.push(c);
        rest = &rest[used..];
    }
    out.push_str(rest);
    out
}

fn character(entity: &str) -> Option<char> {
    let name = entity.trim_start_matches('&').trim_end_matches(';');
    if let Some(hex) = name.strip_prefix("#x").or_else(|| name.strip_prefix("#X")) {
        return u32::from_str_radix(hex, 16).ok().and_then(char::from_u32).filter(|c| *c != '\0');
    }
    if let Some(number) = name.strip_prefix('#') {
        return number.parse().ok().and_then(char::from_u32).filter(|c| *c != '\0');
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        _ => return None,
    })
}

/// Removes tags and keeps the text between them.
pub fn strip_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let opens =
            rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        if opens {
            // Where this tag has no end, no later one has.
            let Some(end) = rest.find('>') else { break };
            rest = &rest[end + 1..];
        } else {
            out.push('<');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

/// Returns the text of an HTML fragment, blanks collapsed.
pub fn plain(text: &str) -> String {
    let spaced = text.replace("</p>", "</p> ").replace("<br", " <br").replace("</li>", "</li> ");
    let text = decode(&strip_tags(&spaced));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes a plain text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#039;")
}

/// Renders a title: trimmed, bare ampersands written out.
pub fn title(text: &str) -> String {
    ampersands(text.trim())
}

/// Renders a longer text: blank lines part paragraphs, single newlines break lines.
///
/// Feeding the result back changes nothing: what it writes it also recognises.
pub fn paragraphs(text: &str) -> String {
    let text = ampersands(&text.replace("\r\n", "\n").replace('\r', "\n"));
    let text = text.replace("<br>", "<br />").replace("<br/>", "<br />");
    let mut parts: Vec<String> = Vec::new();
    let mut open = String::new();
    let mut rest = text.trim();
    // Nothing behind the last end of a tag is searched for tags, once for each that begins there.
    let mut marked = rest.rfind('>').map_or(0, |at| at + 1);
    while !rest.is_empty() {
        let (node, kind) = first_node(rest, marked);
        rest = &rest[node.len()..];
        marked = marked.saturating_sub(node.len());
        match kind {
            Node::Text => {
                let mut pieces = blank_line_split(node);
                open.push_str(pieces.next().unwrap_or_default());
                for piece in pieces {
                    close_paragraph(&mut parts, &mut open);
                    open.push_str(piece);
                }
            }
            Node::Inline => open.push_str(node),
            Node::Block => {
                close_paragraph(&mut parts, &mut open);
                parts.push(node.to_owned());
            }
        }
    }
    close_paragraph(&mut parts, &mut open);
    parts.join("\n")
}

/// What stands at the top level of a text.
enum Node {
    Text,
    /// An element without any block in it.
    Inline,
    /// A block, or an inline element around one.
    Block,
}

struct Tag<'a> {
    name: &'a str,
    closes: bool,
    is_void: bool,
    length: usize,
}

fn close_paragraph(parts: &mut Vec<String>, open: &mut String) {
    let text = std::mem::take(open);
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut paragraph = String::new();
    for (at, line) in lines.iter().enumerate() {
        paragraph.push_str(line);
        if at + 1 < lines.len() {
            paragraph.push_str(if line.ends_with("<br />") { "\n" } else { "<br />\n" });
        }
    }
    parts.push(format!("<p>{paragraph}</p>"));
}

/// Splits a text where lines of nothing but blanks stand.
fn blank_line_split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let gap = text.match_indices('\n').find_map(|(at, _)| {
            let after = text[at + 1..].trim_start_matches([' ', '\t']);
            after.starts_with('\n').then(|| (at, text.len() - after.len()))
        });
        let (piece, next) = match gap {
            Some((end, from)) => (&text[..end], Some(&text[from..])),
            None => (text, None),
        };
        rest = next;
        Some(piece)
    })
}

/// Reads the tag at the beginning of a text that begins with `<`.
fn tag(text: &str) -> Option<Tag<'_>> {
    let body = text.strip_prefix('<')?;
    let closes = body.starts_with('/');
    let body = body.strip_prefix('/').unwrap_or(body);
    let end = body.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(body.len());
    let name = &body[..end];
    if name.is_empty() {
        return None;
    }
    let length = text.find('>')? + 1;
    let is_void = matches!(name, "br" | "hr" | "img" | "col") || text[..length].ends_with("/>");
    Some(Tag { name, closes, is_void, length })
}

/// Tells whether an element is a block, table and list parts among them.
pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name) || TABLE_PARTS.contains(&name)
}

/// Tells whether an element is a heading.
pub(super) fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Cuts the first top-level node off a text whose tags all lie in its first `marked` bytes; an
/// unclosed element runs to the end.
fn first_node(text: &str, marked: usize) -> (&str, Node) {
    let tags = &text[..marked];
    let Some(first) = tag(tags) else {
        let end = tags.match_indices('<').find(|(at, _)| tag(&tags[*at..]).is_some());
        return (&text[..end.map_or(text.len(), |(at, _)| at)], Node::Text);
    };
    let (mut at, mut depth, mut block) = (0, 0_usize, is_block(first.name));
    loop {
        if let Some(tag) = tag(&tags[at..]) {
            block |= is_block(tag.name);
            at += tag.length;
            if tag.closes {
                depth = depth.saturating_sub(1);
            } else if !tag.is_void {
                depth += 1;
            }
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
        match tags[at..].find('<') {
            Some(next) => at += next,
            None => {
                at = text.len();
                break;
            }
        }
    }
    (&text[..at], if block { Node::Block } else { Node::Inline })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_become_paragraphs() {
        for (text, rendered) in [
            ("One", "<p>One</p>"),
            ("One\nTwo", "<p>One<br />\nTwo</p>"),
            ("One\n\nTwo", "<p>One</p>\n<p>Two</p>"),
            ("One\r\n\r\n\r\nTwo\n", "<p>One</p>\n<p>Two</p>"),
            ("R & B", "<p>R &#038; B</p>"),
            ("R &amp; B", "<p>R &amp; B</p>"),
            ("<ul>\n<li>a</li>\n</ul>", "<ul>\n<li>a</li>\n</ul>"),
            ("Intro\n<h2>Head</h2>\nText", "<p>Intro</p>\n<h2>Head</h2>\n<p>Text</p>"),
            ("<strong>x</strong> y", "<p><strong>x</strong> y</p>"),
            ("a<br>b", "<p>a<br />b</p>"),
            ("", ""),
        ] {
            assert_eq!(paragraphs(text), rendered, "{text}");
        }
    }

    #[test]
    fn disallowed_tags_go_and_their_text_stays() {
        for (text, cleaned) in [
            ("<script>alert(1)</script>", "alert(1)"),
            ("<p onclick=\"x()\">a</p>", "<p>a</p>"),
            ("<a href=\"javascript:x()\">a</a>", "<a>a</a>"),
            (
                "<a href=\"https://e.x/?a=1&b=2\">a</a>",
                "<a href=\"https://e.x/?a=1&#038;b=2\">a</a>",
            ),
            ("<iframe src=x>in</iframe>", "in"),
            ("1 < 2 & 3", "1 &lt; 2 &#038; 3"),
            ("<img src=\"https://e.x/a.png\" onerror=\"x()\">", "<img src=\"https://e.x/a.png\">"),
        ] {
            assert_eq!(sanitize(text).as_deref(), Some(cleaned), "{text}");
        }
        assert_eq!(sanitize_inline("<h1>A</h1> <em>b</em>"), "A <em>b</em>");
    }

    #[test]
    fn plain_text_has_no_markup() {
        assert_eq!(plain("<p>R &#038; B</p>\n<p>x&lt;y</p>"), "R & B x<y");
        assert_eq!(decode("&notanentity; & &#39;"), "&notanentity; & '");
    }

    /// Would not end within minutes if each bracket were looked for an end of its own.
    #[test]
    fn brackets_without_an_end_are_text() {
        let text = "<a".repeat(1 << 20);
        assert_eq!(strip_tags(&text), text);
        assert_eq!(paragraphs(&text), format!("<p>{text}</p>"));
        assert_eq!(paragraphs("<b>x <i"), "<p><b>x <i</p>");
        assert_eq!(paragraphs("<hr>x <i"), "<hr>\n<p>x <i</p>");
    }

    proptest::proptest! {
        #[test]
        fn rendering_is_idempotent(text in "[a-c <>/&;pbrliué\n#0-9]{0,60}") {
            let once = paragraphs(&sanitize(&text).unwrap());
            let twice = paragraphs(&sanitize(&once).unwrap());
            proptest::prop_assert_eq!(twice, once);
        }

        #[test]
        fn no_markup_survives_in_titles(text in "\\PC{0,60}") {
            let once = title(&sanitize_inline(&text));
            proptest::prop_assert_eq!(title(&sanitize_inline(&once)), once);
        }
    }
}
