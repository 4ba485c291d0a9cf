//! Estimates how much work a string would cause in an HTML parser, without parsing it.
//!
//! Parsers reopen unclosed formatting such as `<b>` in every block that follows, so the output
//! grows quadratically if the input is half open tags and half blocks. For most tags, parsers also
//! walk the stack of open elements. This module reads tags like a parser, but only counts elements.
//! When in doubt, it overestimates.

use crate::model::html::elements::{is_block, is_heading};

/// Maximum number of blocks that a parser untangles per end tag if formatting and blocks overlap.
const UNTANGLED: usize = 8;

/// Maximum number of identical formatting elements without attributes that a parser keeps.
const ALIKE: usize = 3;

/// Elements that parsers reopen if they weren't closed.
const FORMATTING: [&str; 14] = [
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// Void elements, which don't have end tags.
const VOID: [&str; 18] = [
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img",
    "input", "keygen", "link", "meta", "param", "source", "wbr",
];

/// Blocks that the sanitizer removes. They are closed like other blocks.
const OTHER_BLOCKS: [&str; 8] =
    ["center", "dir", "fieldset", "hgroup", "listing", "main", "menu", "nav"];

/// Elements with special rules. Elements opened before them are assumed never to be closed.
const WALLS: [&str; 24] = [
    "applet",
    "body",
    "button",
    "dialog",
    "form",
    "frameset",
    "head",
    "html",
    "iframe",
    "marquee",
    "math",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "plaintext",
    "script",
    "search",
    "select",
    "style",
    "svg",
    "template",
    "textarea",
    "title",
];

/// Elements that contain raw text, except within SVG and MathML.
const RAW: [&str; 8] =
    ["iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"];

/// Table parts, innermost first.
const ROWS: [&str; 4] = ["tr", "tbody", "thead", "tfoot"];
const CELLS: [&str; 3] = ["td", "th", "caption"];

/// Returns whether a string would be far more expensive to parse than its length suggests.
pub fn is_too_costly(text: &str) -> bool {
    // Ordinary text reopens very little formatting and has fewer than twenty open elements.
    let is_much = |open: &Open| {
        open.is_ambiguous
            || open.repeated > text.len() / 2 + 10_000
            || open.steps > text.len() * 20 + 1_000_000
    };
    escapes(text) > MAX_ESCAPES || is_much(&scan(text, is_much))
}

/// Maximum number of bytes to scan for characters to escape. Scanning them takes a fifth of a
/// second.
const MAX_ESCAPES: usize = 1 << 30;

/// Returns the number of bytes scanned when a string is serialized. Each character that is escaped,
/// or looks that way from its first byte, causes a scan to the next bracket.
fn escapes(text: &str) -> usize {
    let escaped = |run: &str| run.bytes().filter(|byte| matches!(byte, b'&' | 0xC2)).count();
    text.split(['<', '>']).map(|run| escaped(run) * run.len()).sum()
}

/// Reads tags until `is_enough` returns true.
fn scan(text: &str, is_enough: impl Fn(&Open) -> bool) -> Open {
    let mut open = Open::default();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        open.text(&rest[..at]);
        rest = &rest[at + 1..];
        let (closes, body) = match rest.strip_prefix('/') {
            Some(body) => (true, body),
            None => (false, rest),
        };
        match body.chars().next() {
            Some('!' | '?') => {
                open.wall();
                let Some(after) = after_comment(body) else { return open };
                open.is_ambiguous |= is_ambiguous_section(body);
                rest = after;
            }
            Some(c) if closes && !c.is_ascii_alphabetic() => {
                open.wall();
                let Some((_, after)) = body.split_once('>') else { return open };
                rest = after;
            }
            Some(c) if c.is_ascii_alphabetic() => {
                let Some(tag) = Tag::read(body) else { return open };
                // Each attribute is compared with the ones before it.
                open.steps += tag.attributes * tag.attributes / 2;
                let name = tag.name.to_ascii_lowercase();
                rest = tag.after;
                if closes {
                    open.end(&name);
                } else {
                    if RAW.contains(&name.as_str()) {
                        let (crosses, bytes) = crosses_end(rest, &name);
                        open.is_ambiguous |= crosses;
                        open.steps += bytes;
                    }
                    open.begin(name, tag.attributes == 0);
                }
            }
            _ => {}
        }
        if is_enough(&open) {
            break;
        }
    }
    open
}

/// Returns the text after a comment, declaration or processing instruction, or `None` if that is
/// unterminated. The input starts after the opening bracket.
fn after_comment(body: &str) -> Option<&str> {
    let Some(comment) = body.strip_prefix("!--") else {
        return body.split_once('>').map(|(_, after)| after);
    };
    if let Some(after) = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->")) {
        return Some(after);
    }
    let ends = ["-->", "--!>"].map(|end| Some((comment.find(end)?, end.len())));
    let (at, length) = ends.into_iter().flatten().min()?;
    Some(&comment[at + length..])
}

/// Returns whether a declaration would end elsewhere if it were a CDATA section, as it would be in
/// SVG and MathML.
fn is_ambiguous_section(body: &str) -> bool {
    let section = body.strip_prefix("![CDATA[");
    section.is_some_and(|section| section.find('>') != section.find("]]>").map(|at| at + 2))
}

/// Checks a raw text element for anything that would extend past its end if it were parsed as
/// markup, as in SVG and MathML. Returns whether there is any, and the number of bytes scanned. The
/// input starts with the content of the element.
fn crosses_end(content: &str, name: &str) -> (bool, usize) {
    let end = raw_end(content, name);
    let mut bytes = end;
    let mut brackets = content[..end].match_indices('<').map(|(at, _)| &content[at + 1..]);
    let crosses = brackets.any(|body| {
        let after = match body.strip_prefix('/').unwrap_or(body).chars().next() {
            Some(c) if c.is_ascii_alphabetic() => Tag::read(body).map(|tag| tag.after),
            Some('!' | '?') => after_comment(body),
            _ => return false,
        };
        let rest = after.map_or(0, str::len);
        bytes += body.len() - rest;
        after.is_none() || rest < content.len() - end
    });
    (crosses, bytes)
}

/// Returns the end of a raw text element: after its end tag, or at the end of the text.
fn raw_end(content: &str, name: &str) -> usize {
    let ends = content.match_indices("</").filter_map(|(at, _)| {
        let tag = Tag::read(&content[at + 2..])?;
        tag.name.eq_ignore_ascii_case(name).then_some(content.len() - tag.after.len())
    });
    ends.take(1).next().unwrap_or(content.len())
}

/// A tag, not including the opening bracket.
struct Tag<'a> {
    name: &'a str,
    /// Number of attributes. May be slightly too high.
    attributes: usize,
    after: &'a str,
}

impl Tag<'_> {
    /// Reads a tag like a parser does. Returns `None` if it is unterminated.
    fn read(body: &str) -> Option<Tag<'_>> {
        #[derive(Clone, Copy)]
        enum In {
            Gap,
            Name,
            AfterName,
            BeforeValue,
            Bare,
            Quoted(u8),
        }
        let blank = |byte: u8| byte.is_ascii_whitespace();
        let length = body.bytes().position(|byte| blank(byte) || matches!(byte, b'/' | b'>'))?;
        let (mut place, mut attributes) = (In::Gap, 0);
        for (at, byte) in body.bytes().enumerate().skip(length) {
            let next = match (place, byte) {
                (In::Quoted(quote), byte) if byte == quote => In::Gap,
                (In::Quoted(quote), _) => In::Quoted(quote),
                (_, b'>') => {
                    let (name, after) = (&body[..length], &body[at + 1..]);
                    return Some(Tag { name, attributes, after });
                }
                (In::BeforeValue, b'"' | b'\'') => In::Quoted(byte),
                (In::BeforeValue, byte) if blank(byte) => In::BeforeValue,
                (In::BeforeValue, _) => In::Bare,
                (In::Bare, byte) if !blank(byte) => In::Bare,
                (In::Name | In::AfterName, b'=') => In::BeforeValue,
                (In::Name | In::AfterName, byte) if blank(byte) => In::AfterName,
                (_, byte) if blank(byte) || byte == b'/' => In::Gap,
                _ => In::Name,
            };
            attributes += usize::from(matches!(next, In::Name) && !matches!(place, In::Name));
            place = next;
        }
        None
    }
}

fn is_formatting(name: &str) -> bool {
    FORMATTING.contains(&name)
}

fn is_special(name: &str) -> bool {
    is_block(name) || OTHER_BLOCKS.contains(&name)
}

/// An open element.
struct Element {
    name: String,
    is_bare: bool,
    is_formatting: bool,
    is_special: bool,
}

/// Returns whether an open element stops the end tag `ended` from closing elements further out.
fn holds_back(open: &Element, ended: &str, ended_is_special: bool) -> bool {
    match open.name.as_str() {
        "table" => ended != "table",
        "caption" => ended != "table",
        "td" | "th" => !matches!(ended, "table" | "td" | "th") && !ROWS.contains(&ended),
        "ul" | "ol" if ended == "li" => true,
        // The end tag of an inline element doesn't close blocks.
        _ => open.is_special && !ended_is_special,
    }
}

/// Returns whether the start tag `begun` closes an enclosing `block`.
fn ends(begun: &str, block: &str) -> bool {
    match block {
        "p" => is_special(begun) && !is_of_table(begun),
        "li" => begun == "li",
        "dt" | "dd" => matches!(begun, "dt" | "dd"),
        _ => false,
    }
}

/// Returns whether the start tag of a table part closes the innermost open element.
fn ends_part(begun: &str, last: &str) -> bool {
    match last {
        "p" => is_of_table(begun),
        "td" | "th" => matches!(begun, "td" | "th") || ROWS.contains(&begun),
        "tr" => ROWS.contains(&begun),
        "tbody" | "thead" | "tfoot" => ROWS[1..].contains(&begun),
        _ => false,
    }
}

fn is_of_table(name: &str) -> bool {
    CELLS.contains(&name) || ROWS.contains(&name) || matches!(name, "col" | "colgroup")
}

/// The open elements at a point in the text.
#[derive(Default)]
struct Open {
    elements: Vec<Element>,
    /// Number of formatting elements among them.
    formatting: usize,
    /// Formatting elements that stay in effect after their block has ended.
    lost: Vec<Element>,
    /// Formatting elements, and elements of any kind, that might still be open from before a wall.
    forever: usize,
    unknown: usize,
    /// Elements moved out of a table and placed before it.
    moved: usize,
    /// Elements that a parser might have created in addition to those in the text.
    repeated: usize,
    /// Number of elements that a parser might have visited.
    steps: usize,
    /// Whether parsers might disagree about the tags that follow.
    is_ambiguous: bool,
}

impl Open {
    fn count(&mut self) {
        self.repeated += self.formatting + self.lost.len() + self.forever;
        self.steps += self.elements.len() + self.unknown;
    }

    fn in_table(&self) -> bool {
        let inner = self.elements.last().map_or("", |open| open.name.as_str());
        inner == "table" || ROWS.contains(&inner)
    }

    /// Counts content that is inside a table but outside a cell. Parsers move it before the table,
    /// behind anything that was moved earlier.
    fn move_out(&mut self) {
        if self.in_table() {
            self.moved += 1;
            self.steps += self.moved;
        }
    }

    fn text(&mut self, text: &str) {
        if !text.trim_ascii().is_empty() {
            self.move_out();
        }
    }

    fn wall(&mut self) {
        self.count();
        self.forever += std::mem::take(&mut self.formatting) + self.lost.len();
        self.unknown += self.elements.len();
        self.lost.clear();
        self.elements.clear();
    }

    fn begin(&mut self, name: String, is_bare: bool) {
        if WALLS.contains(&name.as_str()) {
            return self.wall();
        }
        self.count();
        // Links can't be nested. A new one closes the one around it.
        if name == "a" && self.elements.iter().chain(&self.lost).any(|open| open.name == "a") {
            self.end("a");
        }
        while let Some(block) = self.elements.iter().rposition(|open| open.is_special)
            && ends(&name, &self.elements[block].name)
        {
            self.close(block);
        }
        while self.elements.last().is_some_and(|last| ends_part(&name, &last.name)) {
            self.elements.pop();
        }
        if !is_of_table(&name) {
            self.move_out();
        }
        if !VOID.contains(&name.as_str()) {
            let (is_formatting, is_special) = (is_formatting(&name), is_special(&name));
            self.formatting += usize::from(is_formatting);
            self.elements.push(Element { name, is_bare, is_formatting, is_special });
        }
    }

    /// Closes an element and everything open inside it. Formatting inside it stays in effect.
    fn close(&mut self, at: usize) {
        let inner = self.elements.split_off(at + 1);
        let itself = self.elements.pop().is_some_and(|open| open.is_formatting);
        self.formatting -= usize::from(itself);
        for open in inner.into_iter().filter(|open| open.is_formatting) {
            self.formatting -= 1;
            let alike = |lost: &&Element| lost.is_bare && lost.name == open.name;
            if !open.is_bare || self.lost.iter().filter(alike).count() < ALIKE {
                self.lost.push(open);
            }
        }
    }

    fn end(&mut self, name: &str) {
        self.count();
        let (special, heading) = (is_special(name), is_heading(name));
        for at in (0..self.elements.len()).rev() {
            let open = &self.elements[at];
            if open.name == name || heading && is_heading(&open.name) {
                return self.close(at);
            }
            if holds_back(open, name, special) {
                break;
            }
        }
        if !is_formatting(name) || self.formatting + self.lost.len() + self.forever == 0 {
            return;
        }
        // Parsers copy up to three elements around each of these blocks.
        let depth = self.elements.len() + self.unknown;
        self.repeated += 4 * depth.min(UNTANGLED);
        let shallow = depth < UNTANGLED;
        let in_cell = self.elements.iter().any(|open| CELLS.contains(&open.name.as_str()));
        if shallow
            && !in_cell
            && let Some(at) = self.lost.iter().rposition(|lost| lost.name == name)
        {
            self.lost.remove(at);
        }
    }
}

#[cfg(test)]
mod tests;
