//! Markup allowed in descriptions: links, emphasis and lists.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::Builder;

static ALLOWED: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let tags = [
        "a",
        "abbr",
        "b",
        "blockquote",
        "br",
        "code",
        "em",
        "i",
        "li",
        "ol",
        "p",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "u",
        "ul",
    ];
    let mut builder = Builder::empty();
    builder
        .tags(HashSet::from(tags))
        .tag_attributes(HashMap::from([("a", HashSet::from(["href", "rel", "target", "title"]))]))
        .clean_content_tags(HashSet::from(["script", "style"]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .link_rel(None);
    builder
});

/// Strips any markup that isn't allowed.
pub fn allowed(html: &str) -> String {
    ALLOWED.clean(html).to_string()
}

static NOTHING: LazyLock<Builder<'static>> = LazyLock::new(Builder::empty);

/// Strips all markup.
pub fn text(html: &str) -> String {
    // `ammonia` escapes exactly these characters.
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&")];
    let text = NOTHING.clean(html).to_string();
    entities.iter().fold(text, |text, (entity, letter)| text.replace(entity, letter))
}

/// Checks that all markup is allowed.
pub fn is_allowed(html: &str) -> bool {
    tags(html) == tags(&allowed(html))
}

/// Counts tags by name and attribute names with a naive parser. If some input confuses this parser,
/// either the counts differ from the sanitized form's, or sanitizing removes nothing that matters.
fn tags(html: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for rest in html.split('<').skip(1) {
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        *found.entry(tag(rest)).or_default() += 1;
    }
    found
}

/// Returns a tag's name followed by its sorted attribute names.
fn tag(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '>' | '/' | '=');
    let (name, mut rest) = text.split_at(text.find(is_end).unwrap_or(text.len()));
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if rest.is_empty() || rest.starts_with('>') {
            break;
        }
        // A leading equals sign is part of the attribute name.
        let end = rest.char_indices().skip(1).find(|(_, c)| is_end(*c));
        let (attribute, tail) = rest.split_at(end.map_or(rest.len(), |(end, _)| end));
        attributes.push(attribute.to_lowercase());
        rest = tail.trim_start();
        if let Some(value) = rest.strip_prefix('=') {
            rest = skip_value(value.trim_start());
        }
    }
    attributes.sort_unstable();
    format!("{} {}", name.to_lowercase(), attributes.join(" "))
}

fn skip_value(text: &str) -> &str {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    match quote {
        Some(quote) => text[1..].split_once(quote).map_or("", |(_, tail)| tail),
        None => {
            let end = text.find(|c: char| c.is_whitespace() || c == '>');
            &text[end.unwrap_or(text.len())..]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_descriptions_pass_unchanged() {
        for html in [
            "",
            "In 2013, 1 < 2 and <em>some</em> addresses & names were <strong>exposed</strong>.",
            "<a href=\"https://a.example/?b=c&amp;d\" target=\"_blank\" rel=\"noopener\">x</a>",
            "<A HREF='http://a.example/'>x</A><br/>y<br>z<p>open",
            "<ul><li>one</li><li><code>two</code></li></ul>",
            "a <- b, c > d",
        ] {
            assert!(is_allowed(html), "{html}");
        }
        let published = "<a href=\"https://a.example/x\" target=\"_blank\" rel=\"noopener\">x</a>";
        assert_eq!(allowed(published), published);
    }

    #[test]
    fn text_has_no_tags_and_no_entities() {
        for (html, plain) in [
            ("A <em>made-up</em> entry.", "A made-up entry."),
            ("<p>one&nbsp;&mdash; it&#8217;s</p>", "one \u{2014} it\u{2019}s"),
            ("1 < 2 &lt; 3 & \"4\" &gt; &#39;x&#39;", "1 < 2 < 3 & \"4\" > 'x'"),
            ("&amp;lt; &amp;amp; &amp;nbsp;", "&lt; &amp; &nbsp;"),
            ("<script>a()</script>b", "b"),
        ] {
            assert_eq!(text(html), plain, "{html}");
        }
    }

    #[test]
    fn active_content_is_removed() {
        for (html, left) in [
            ("<script>a()</script>b", "b"),
            ("<ScRipt src=//x>", ""),
            ("<style>*{display:none}</style>b", "b"),
            ("<iframe src=\"https://a.example\"></iframe>", ""),
            ("<form action=\"/x\"><input name=\"y\"></form>", ""),
            ("<img src=x onerror = 'a()'>", ""),
            ("<svg/onload=a()>", ""),
            ("<a href=\"java&#115;cript:a()\">b</a>", "<a>b</a>"),
            ("<a href=\"java\nscript:a()\">b</a>", "<a>b</a>"),
            ("<a href=\"data:text/html,x\">b</a>", "<a>b</a>"),
            (
                "<a href=\"https://a.example\" onclick=\"a()\">b</a>",
                "<a href=\"https://a.example\">b</a>",
            ),
            ("<p style=\"position:fixed\">b</p>", "<p>b</p>"),
            ("<meta http-equiv=\"refresh\" content=\"0\">", ""),
            ("<math><mtext><table><mglyph><style><img src=x onerror=a()>", ""),
        ] {
            assert!(!is_allowed(html), "{html}");
            assert_eq!(allowed(html), left, "{html}");
        }
    }
}
