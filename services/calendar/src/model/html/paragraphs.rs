//! Renders descriptions and other long text.

use super::elements::is_block;
use super::text::ampersands;

/// Renders long text. Blank lines separate paragraphs, and single newlines become line breaks.
///
/// Rendering is idempotent.
pub fn paragraphs(text: &str) -> String {
    let text = ampersands(&text.replace("\r\n", "\n").replace('\r', "\n"));
    let text = text.replace("<br>", "<br />").replace("<br/>", "<br />");
    let mut parts: Vec<String> = Vec::new();
    let mut open = String::new();
    let mut rest = text.trim();
    // A tag can't end after the last `>`, so only look for tags before it. Otherwise, each `<`
    // after it would cause a scan to the end of the text.
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

/// The type of a top-level node.
enum Node {
    Text,
    /// An element that doesn't contain any blocks.
    Inline,
    /// A block, or an inline element that contains one.
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

/// Splits a string at blank lines.
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

/// Parses the tag at the start of the string, if there is one.
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

/// Splits off the first top-level node. All tags end within the first `marked` bytes. Unclosed
/// elements extend to the end.
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
