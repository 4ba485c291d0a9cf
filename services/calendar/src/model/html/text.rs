//! Entities, tags and plain text.

/// Replaces each `&` that doesn't start an entity with `&#038;`.
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

/// Returns the entity at the start of a string that starts with `&`, if there is one.
fn entity(text: &str) -> Option<&str> {
    let end = text.bytes().take(32).position(|byte| byte == b';')?;
    let name = &text[1..end];
    let body = name.strip_prefix('#').unwrap_or(name);
    let fits = !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| &text[..=end])
}

/// Decodes the entities that are used in practice.
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

/// Removes tags but keeps the text between them.
pub fn strip_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if opens_tag(&rest[1..]) {
            // If this tag is unterminated, so are all later ones.
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

/// Removes tags from a plain text field such as an address. This includes tags that only appear
/// once other tags have been removed.
pub fn without_tags(text: &str) -> String {
    let mut text = text.to_owned();
    while text.contains('<') {
        let mut bare = strip_tags(&text);
        if bare == text {
            bare = without_openings(&text);
        }
        if bare == text {
            break;
        }
        text = bare;
    }
    text
}

/// Removes the opening brackets of unterminated tags and comments. If a client doesn't escape the
/// text, whatever follows on its page could complete them.
fn without_openings(text: &str) -> String {
    let opens = |at: usize| text[at..].starts_with('<') && opens_tag(&text[at + 1..]);
    text.char_indices().filter(|(at, _)| !opens(*at)).map(|(_, c)| c).collect()
}

/// Returns whether `<` followed by this text starts a tag or comment.
fn opens_tag(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
}

/// End tags of elements whose content should be separated by a space.
const CELLS: [&str; 4] = ["</td>", "</th>", "</dt>", "</dd>"];

/// Returns the text of an HTML fragment, with whitespace collapsed.
pub fn plain(text: &str) -> String {
    let spaced = text.replace("</p>", "</p> ").replace("<br", " <br").replace("</li>", "</li> ");
    let spaced = CELLS.iter().fold(spaced, |text, end| text.replace(end, " "));
    let text = decode(&strip_tags(&spaced));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text of an HTML fragment, preserving lines and paragraphs.
pub fn text(html: &str) -> String {
    let broken = html
        .replace("</p>", "\n\n")
        .replace("<br", "\n<br")
        .replace("</li>", "\n")
        .replace("</tr>", "\n")
        .replace("</h", "\n</h")
        .replace("</dd>", "\n")
        .replace("</div>", "\n");
    let broken = CELLS.iter().fold(broken, |text, end| text.replace(end, " "));
    let mut lines: Vec<String> = Vec::new();
    for line in decode(&strip_tags(&broken)).lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        // Separate paragraphs with a single empty line.
        if !(line.is_empty() && lines.last().is_none_or(String::is_empty)) {
            lines.push(line);
        }
    }
    lines.join("\n").trim_end().to_owned()
}

/// Escapes plain text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#039;")
}

/// Trims a title and escapes bare ampersands.
pub fn title(text: &str) -> String {
    ampersands(text.trim())
}
