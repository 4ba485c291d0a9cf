use super::*;
use crate::model::html::sanitize;

/// A text of many parts, each with its number in place of `#`.
fn many(count: usize, part: &str) -> String {
    (0..count).map(|number| part.replace('#', &number.to_string())).collect()
}

#[test]
fn tags_that_would_become_many_times_as_many_are_told() {
    let open = many(1000, "<b class=#>");
    let blocks = many(1000, "<p>x</p>");
    for text in [
        format!("<p>{open}</p>{blocks}"),
        format!("{open}{blocks}"),
        // What seems to close them is no tag.
        format!("<p>{}</p>{blocks}", many(1000, "<b class=#><!-- </b> -->")),
        format!("<p>{}</p>{blocks}", many(1000, "<b class=# title=\"></b>\">")),
        format!("<p>{}</p>{blocks}", many(1000, "<b class=#><script></b></script>")),
        format!("<p>{}</p>{blocks}", many(1000, "<b =\"><i class=#>")),
        format!("<li>{}</li>{}", many(1000, "<b class=#>"), many(1000, "<li>x")),
        format!("{open}{}", many(1000, "<div>x</b>")),
        // Many open elements are looked at by each tag that follows.
        format!("{}{}", many(5000, "<span>"), many(5000, "<p>")),
        format!("{}{}", many(5000, "<span>"), many(5000, "</i>")),
        format!("{}{}", many(5000, "<span><div></span>"), many(5000, "<p>")),
        format!("<table>{}", many(5000, "<p>x")),
        format!("<table>{}", many(5000, "x<tr>")),
        // Each attribute is compared with all before it.
        format!("<p {}>", many(5000, "a# ")),
        // For each character that is escaped all others up to the next bracket are looked at.
        format!("<p>{}</p>", "&".repeat(100_000)),
        format!("<a href=\"{}\">x</a>", "&\u{a0}".repeat(50_000)),
    ] {
        assert!(is_too_costly(&text), "{}", &text[..60]);
        assert_eq!(sanitize(&text), None);
    }
}

#[test]
fn long_texts_of_people_and_their_editors_are_kept() {
    for part in [
        "<p>One <b><i>two</i> three</b> <a href=\"https://e.x/#?a>b\" title='x'>four</a></p>\n",
        "<p>One<p class=#>two <em>three</em><br>four<hr/>",
        "<ul><li>a<li><b>b</b><ul><li>c</ul></ul>",
        "<table>\n<thead><tr><th>a<th>b<tbody>\n<tr><td><b>a</b><td>b\n<tr><td>c</table>",
        "<div class=x><div><h2>a</h2><p>b</div></div><dl><dt>a<dd>b<dt>c<dd>d</dl>",
        "<a name=#>a<p><b>b</b></p>",
        "<p><b>never closed<p>again",
        "<p><b><i>a</b></i></p>",
        "1 < 2 <3 <<< > & <",
        "<p>R &amp; B, D&uuml;rer & Söhne, 10 °C</p>",
        "<td a=# b=# c=# d=# e=# f=# g=# h=# style='x: y' title='z'>x</td>",
        "<!-- # --><p>a</p>",
    ] {
        assert!(!is_too_costly(&many(5000, part)), "{part}");
    }
}

proptest::proptest! {
    #[test]
    fn no_parser_repeats_more_than_is_counted(
        parts in proptest::collection::vec((0..26_usize, 1..20_usize), 1..16),
    ) {
        const PARTS: [&str; 26] = [
            "<b class=#>", "<i class=#>", "<a href=#>", "<p>", "<p>x</p>", "</p>", "</b>", "</i>", "</a>",
            "<div>", "</div>", "<table>", "<tr>", "<td>", "</td>", "</table>", "<li>", "</li>", "<ul>",
            "x", "<h1>", "</h2>", "<span>", "</span>", "<b class=# =\">", "<!-- ",
        ];
        let text: String = parts.iter().map(|(part, count)| many(*count, PARTS[*part])).collect();
        let written = |text: &str| -> usize {
            ["<b", "<i", "<a"].iter().map(|tag| text.matches(tag).count()).sum()
        };
        let (Some(cleaned), counted) = (sanitize(&text), scan(&text, |_| false)) else { return Ok(()) };
        let most = written(&text) + counted.repeated;
        proptest::prop_assert!(written(&cleaned) <= most, "{} > {most}", written(&cleaned));
    }
}
