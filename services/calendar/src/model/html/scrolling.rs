//! Makes elements that scroll accessible by keyboard.

use super::text::escape;

/// Elements that scroll if they are too wide for the page.
const SCROLLING: [&str; 2] = ["<table", "<pre"];

/// Maximum number of elements that are given a name, because otherwise a long name could make a
/// description many times longer.
const MAX_NAMED: usize = 100;

/// Makes the tables and preformatted text in a description focusable by keyboard. Screen readers
/// announce them by `name`, unless a table has a caption.
pub fn with_focusable(description: &str, name: &str) -> String {
    let mut out = String::with_capacity(description.len());
    let (mut copied, mut found) = (0, 0);
    for (at, _) in description.match_indices('<') {
        let tag = SCROLLING.into_iter().find(|tag| opens(&description[at..], tag));
        let Some(tag) = tag else { continue };
        let end = at + tag.len();
        out.push_str(&description[copied..end]);
        out.push_str(" tabindex=\"0\"");
        if tag == "<pre" {
            out.push_str(" role=\"group\"");
        }
        found += 1;
        if found <= MAX_NAMED && !has_caption(&description[end..]) {
            out.push_str(&format!(" aria-label=\"{}\"", escape(name)));
        }
        copied = end;
    }
    out.push_str(&description[copied..]);
    out
}

/// Returns whether `text` starts with this tag, and not with a longer one.
fn opens(text: &str, tag: &str) -> bool {
    text.strip_prefix(tag).is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '\t']))
}

/// Returns whether a caption follows the rest of a tag.
fn has_caption(rest: &str) -> bool {
    let content = rest.split_once('>').map(|(_, content)| content.trim_start());
    content.is_some_and(|content| content.starts_with("<caption"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_preformatted_texts_are_focusable() {
        for (text, shown) in [
            ("<p>a</p>", "<p>a</p>"),
            ("<table><tbody>", "<table tabindex=\"0\" aria-label=\"A &lt;b&gt;\"><tbody>"),
            ("<table>\n<caption>c", "<table tabindex=\"0\">\n<caption>c"),
            (
                "x<pre>a</pre><table class=\"b\">",
                "x<pre tabindex=\"0\" role=\"group\" aria-label=\"A &lt;b&gt;\">a</pre>\
                 <table tabindex=\"0\" aria-label=\"A &lt;b&gt;\" class=\"b\">",
            ),
            ("&lt;table> <tables> <prefix>", "&lt;table> <tables> <prefix>"),
        ] {
            assert_eq!(with_focusable(text, "A <b>"), shown);
        }
    }
}
