//! Prepares untrusted text for storage and for terminals.

/// Maximum length of a reason, in bytes. Reasons can quote the source.
const LONGEST_REASON: usize = 300;

/// Shortens a reason and makes it [safe for terminals](terminal_safe), since it ends up in reports
/// and error messages.
pub(super) fn shortened(reason: &str) -> String {
    let mut short = String::new();
    for c in reason.chars() {
        if short.len() >= LONGEST_REASON {
            short.push('…');
            break;
        }
        push_safe(&mut short, c);
    }
    short
}

/// Replaces NULs, since PostgreSQL can't store them in text.
pub(super) fn printable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Escapes control characters and direction marks. Text from keys and servers could otherwise
/// manipulate the terminal or forge lines.
pub fn terminal_safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    text.chars().for_each(|c| push_safe(&mut safe, c));
    safe
}

fn push_safe(safe: &mut String, c: char) {
    let is_unsafe = c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if is_unsafe { safe.extend(c.escape_default()) } else { safe.push(c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_short_and_without_nuls() {
        let long = "é\0".repeat(300);
        let stored = printable(&shortened(&long));
        assert!(stored.len() < 520 && stored.ends_with('…') && !stored.contains('\0'), "{stored}");
        assert_eq!(shortened("a\0b"), r"a\u{0}b");
        assert_eq!(printable("a\0b"), "a\u{fffd}b");
    }

    #[test]
    fn control_characters_and_direction_marks_are_escaped() {
        let text = "a\u{1b}[2J\ncrawl 7\u{202e} \"b\" ü";
        assert_eq!(terminal_safe(text), r#"a\u{1b}[2J\ncrawl 7\u{202e} "b" ü"#);
        assert_eq!(shortened(text), terminal_safe(text));
    }
}
