use super::*;
use crate::model::html::sanitize;

/// Repeats a string `count` times and replaces each `#` with the repetition's number.
fn many(count: usize, part: &str) -> String {
    (0..count).map(|number| part.replace('#', &number.to_string())).collect()
}

#[test]
fn multiplying_markup_is_too_costly() {
    let open = many(1000, "<b class=#>");
    let blocks = many(1000, "<p>x</p>");
    for text in [
        format!("<p>{open}</p>{blocks}"),
        format!("{open}{blocks}"),
        // The apparent end tags are inside comments, attributes or raw text.
        format!("<p>{}</p>{blocks}", many(1000, "<b class=#><!-- </b> -->")),
        format!("<p>{}</p>{blocks}", many(1000, "<b class=# title=\"></b>\">")),
        format!("<p>{}</p>{blocks}", many(1000, "<b class=#><script></b></script>")),
        format!("<p>{}</p>{blocks}", many(1000, "<b =\"><i class=#>")),
        format!("<li>{}</li>{}", many(1000, "<b class=#>"), many(1000, "<li>x")),
        format!("{open}{}", many(1000, "<div>x</b>")),
        // Each subsequent tag has to check all the open elements.
        format!("{}{}", many(5000, "<span>"), many(5000, "<p>")),
        format!("{}{}", many(5000, "<span>"), many(5000, "</i>")),
        format!("{}{}", many(5000, "<span><div></span>"), many(5000, "<p>")),
        format!("<table>{}", many(5000, "<p>x")),
        format!("<table>{}", many(5000, "x<tr>")),
        // Each attribute is compared with all the previous ones.
        format!("<p {}>", many(5000, "a# ")),
        // A quote seems to hide the tags, but its own tag is inside a comment or raw text.
        format!("<!-- <b a=\" -->{open}{blocks}<!-- \"> -->"),
        format!("<!-- <b a=\" --><p {}><!-- \"> -->", many(5000, "a# ")),
        format!("</ <b a=\">{open}{blocks}<p title=\">"),
        format!("<? <b a=\"?>{open}{blocks}<p title=\">"),
        format!("<title><b a=\"</title>{open}{blocks}<p title=\">"),
        format!("<script><!--</script>{open}{blocks}<!-- -->"),
        format!("<style><b a=\"</style>{open}{blocks}"),
        format!("<svg><![CDATA[ > <!-- ]]>{open}{blocks}<!-- -->"),
        // The parser looks for the end of each element all the way to the end of the text.
        many(20_000, "<title>"),
        // Each escaped character causes a scan to the next bracket.
        format!("<p>{}</p>", "&".repeat(100_000)),
        format!("<a href=\"{}\">x</a>", "&\u{a0}".repeat(50_000)),
    ] {
        assert!(is_too_costly(&text), "{}", &text[..60]);
        assert_eq!(sanitize(&text), None);
    }
}

#[test]
fn long_ordinary_texts_are_accepted() {
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
        "<!--[if gte mso 9]><xml><w:View a=\"b\">Normal</w:View></xml><![endif]--><p>a</p>",
        "<![if !supportLists]><p>a</p><![endif]>",
        "<style><!-- p { margin: 0 } --></style><p>a</p>",
        "<script>if (a < b && c == \"d\") e('<br>')</script>",
    ] {
        assert!(!is_too_costly(&many(5000, part)), "{part}");
    }
}

proptest::proptest! {
    #[test]
    fn estimate_is_never_below_the_parser_output(
        parts in proptest::collection::vec((0..40_usize, 1..20_usize), 1..16),
    ) {
        const PARTS: [&str; 40] = [
            "<b class=#>", "<i class=#>", "<a href=#>", "<p>", "<p>x</p>", "</p>", "</b>", "</i>", "</a>",
            "<div>", "</div>", "<table>", "<tr>", "<td>", "</td>", "</table>", "<li>", "</li>", "<ul>",
            "x", "<h1>", "</h2>", "<span>", "</span>", "<b class=# =\">", "<!-- ", "-->", "\"", "\">",
            "<b a=\"", "</ ", "<?", "<title>", "</title>", "<script>", "</script>", "<svg>", "</svg>",
            "<![CDATA[", "]]>",
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
