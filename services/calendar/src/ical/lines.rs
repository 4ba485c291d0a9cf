//! Writes iCalendar lines, with escaping, folding and CRLF line endings.

/// Maximum line length in octets, not counting the CRLF.
const OCTETS: usize = 75;

/// Writes a property. `name` can include parameters, and `value` must already be escaped.
pub fn line(out: &mut String, name: &str, value: &str) {
    let mut room = OCTETS;
    for c in name.chars().chain([':']).chain(value.chars()) {
        if c.len_utf8() > room {
            out.push_str("\r\n ");
            room = OCTETS - 1;
        }
        room -= c.len_utf8();
        out.push(c);
    }
    out.push_str("\r\n");
}

/// Writes a text property, or nothing if `text` is empty.
pub fn text_line(out: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        line(out, name, &escaped(text));
    }
}

/// Escapes text and drops control characters other than line breaks.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Quotes a parameter value, replacing any double quotes in it with single quotes. A caret is
/// doubled, because it is an escape character (RFC 6868).
pub fn quoted(text: &str) -> String {
    let bare: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", bare.replace('^', "^^").replace('"', "'"))
}

/// Removes line breaks and other control characters from a value that isn't text, such as a URL.
pub fn bare(value: &str) -> String {
    value.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn folded_lines_are_short_and_unfold_to_the_original(text in "[a-zä東🎷 ]{0,200}") {
            let mut out = String::new();
            line(&mut out, "SUMMARY", &text);
            prop_assert!(out.ends_with("\r\n"));
            for physical in out.trim_end_matches("\r\n").split("\r\n") {
                prop_assert!(physical.len() <= OCTETS);
            }
            let unfolded = out.replace("\r\n ", "");
            prop_assert_eq!(unfolded.trim_end_matches("\r\n"), format!("SUMMARY:{text}"));
        }
    }

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(escaped("a;b,c\\d\r\ne\u{1}\tf"), "a\\;b\\,c\\\\d\\ne f");
        assert_eq!(quoted("Ann \"A\": x;y"), "\"Ann 'A': x;y\"");
    }
}
