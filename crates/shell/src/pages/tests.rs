use std::collections::BTreeMap;
use std::sync::LazyLock;

use actix_web::http::StatusCode;
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::{App, HttpRequest, HttpResponse, web};
use askama::Template;

use super::site::STYLE;
use super::*;

#[derive(Template)]
#[template(source = "<h1>{{ greeting }}</h1>", ext = "html")]
struct Hello<'a> {
    greeting: &'a str,
}

static SITE: LazyLock<Site> = LazyLock::new(|| {
    Site::new("Echo <service>", "Answers what it is sent.", Accent::Teal)
        .link("Events", "events")
        .style("echo.css", b"p { color: red }")
        .script("echo.js", b"'use strict';")
});
static HOME: LazyLock<FixedPage> = LazyLock::new(|| {
    let page = Page::home("Home").description("\"Quoted\"").script("echo.js").current("events");
    SITE.fixed(&page, &Hello { greeting: "a < b" })
});

async fn home(request: HttpRequest) -> HttpResponse {
    HOME.respond(&request)
}

async fn ask(request: TestRequest) -> (StatusCode, BTreeMap<String, String>, Vec<u8>) {
    let app = App::new().configure(|config| {
        config.route("/", web::get().to(home));
        SITE.serve(config);
    });
    let app = init_service(app).await;
    let response = call_service(&app, request.to_request()).await;
    let headers = response
        .headers()
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()));
    (response.status(), headers.collect(), read_body(response).await.to_vec())
}

fn get(path: &str) -> TestRequest {
    TestRequest::get().uri(path)
}

#[actix_web::test]
async fn a_page_escapes_its_values_and_loads_only_its_own_files() {
    let (status, headers, body) = ask(get("/")).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(headers["cache-control"], "no-cache");
    assert_eq!(headers["referrer-policy"], "no-referrer");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert_eq!(
        headers["content-security-policy"],
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
         img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    let html = String::from_utf8(body).unwrap();
    assert!(html.contains("<h1>a &#60; b</h1>"), "{html}");
    assert!(html.contains("<title>Home · Echo &#60;service&#62;</title>"), "{html}");
    assert!(html.contains("content=\"&#34;Quoted&#34;\""), "{html}");
    assert!(html.contains("<a href=\"./events\" aria-current=\"page\">Events</a>"), "{html}");
    for name in ["quintet.css", "echo.css", "echo.js", "icon.svg"] {
        assert!(html.contains(&format!("\"./{}\"", SITE.href(name))), "{name}");
    }
    for outside in ["http://", "https://", " style=", "<style", "<script>", " onclick="] {
        assert!(!html.contains(outside), "{outside}");
    }
}

async fn shared(request: HttpRequest) -> HttpResponse {
    let page = Page::new("Fair")
        .publisher("Town <hall>", "Events of the town.")
        .canonical("https://town.example/event/fair/")
        .property("og:title", "Fair")
        .property("og:image", "")
        .unindexed()
        .linked_data("{\"name\":\"</script><b>\"}")
        .images_from("https://images.example")
        .images_from("https://images.example; script-src *");
    SITE.respond_shared(&request, &page, &Hello { greeting: "fair" })
}

#[actix_web::test]
async fn a_shared_page_names_its_publisher_and_is_revalidated() {
    let app = App::new().route("/", web::get().to(shared));
    let app = init_service(app).await;
    let response = call_service(&app, get("/").to_request()).await;
    let header = |name: &str| response.headers().get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(header("cache-control"), "public, no-cache");
    let policy = header("content-security-policy");
    assert!(policy.contains("img-src 'self' data: https://images.example; base-uri"), "{policy}");
    let tag = header("etag");
    let html = String::from_utf8(read_body(response).await.to_vec()).unwrap();
    for part in [
        "<title>Fair · Town &#60;hall&#62;</title>",
        "</svg>Town &#60;hall&#62;</a>",
        "<p>Events of the town.</p>",
        "<meta name=\"robots\" content=\"noindex\">",
        "<link rel=\"canonical\" href=\"https://town.example/event/fair/\">",
        "<meta property=\"og:title\" content=\"Fair\">",
        "<script type=\"application/ld+json\">{\"name\":\"\\u003c/script>\\u003cb>\"}</script>",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    assert!(!html.contains("og:image"));
    let again = get("/").insert_header(("if-none-match", tag)).to_request();
    assert_eq!(call_service(&app, again).await.status(), StatusCode::NOT_MODIFIED);
}

#[actix_web::test]
async fn assets_are_immutable_and_use_the_preferred_coding() {
    let path = format!("/{}", SITE.href("quintet.css"));
    let (status, headers, plain) = ask(get(&path)).await;
    assert_eq!((status, plain.as_slice()), (StatusCode::OK, STYLE.as_bytes()));
    assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
    assert_eq!(headers["content-type"], "text/css; charset=utf-8");
    assert_eq!(headers["vary"], "Accept-Encoding");
    for (accepted, coding) in [
        ("gzip", Some("gzip")),
        ("gzip, deflate, br", Some("br")),
        ("br;q=0.1, gzip;q=0.9", Some("gzip")),
        ("gzip;q=0", None),
        ("identity", None),
    ] {
        let request = get(&path).insert_header(("accept-encoding", accepted));
        let (_, headers, body) = ask(request).await;
        assert_eq!(headers.get("content-encoding").map(String::as_str), coding, "{accepted}");
        assert_eq!(body.len() < plain.len(), coding.is_some());
    }
}

#[actix_web::test]
async fn known_content_is_304() {
    for path in ["/".to_owned(), format!("/{}", SITE.href("echo.js"))] {
        let (_, headers, _) = ask(get(&path)).await;
        let tag = &headers["etag"];
        for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let (status, headers, body) =
                ask(get(&path).insert_header(("if-none-match", known))).await;
            assert_eq!((status, body.len()), (StatusCode::NOT_MODIFIED, 0));
            assert_eq!(&headers["etag"], tag);
        }
        let (status, ..) = ask(get(&path).insert_header(("if-none-match", "\"x\""))).await;
        assert_eq!(status, StatusCode::OK);
    }
}

#[test]
fn only_names_with_the_digest_of_their_content_are_assets() {
    let path = format!("/{}", SITE.href("echo.js"));
    assert!(SITE.has(&path), "{path}");
    assert_eq!(path.len(), "/assets/echo.0123456789abcdef.js".len());
    for other in ["/assets/echo.js", "/assets/", "/", "/assets/echo.0123456789abcdef.js"] {
        assert!(!SITE.has(other), "{other}");
    }
}

/// Returns the color tokens set by a block of the style sheet.
fn colours(block: &str) -> BTreeMap<&str, [f64; 3]> {
    let rules = block.lines().filter_map(|line| line.trim().strip_prefix("--")?.split_once(": "));
    rules.filter_map(|(name, value)| Some((name, rgb(value.trim_end_matches(';'))?))).collect()
}

fn rgb(text: &str) -> Option<[f64; 3]> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let part = |at| u8::from_str_radix(&digits[at..at + 2], 16).map(f64::from).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

/// Returns the relative luminance as defined by WCAG 2.
fn luminance(colour: [f64; 3]) -> f64 {
    let linear = |part: f64| {
        let part = part / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    let [red, green, blue] = colour.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn text_and_borders_keep_their_contrast_in_both_themes() {
    let tokens = include_str!("style/tokens.css");
    let (light, dark) = tokens.split_once("@media (prefers-color-scheme: dark)").unwrap();
    for (theme, block) in [("light", light), ("dark", dark)] {
        let mut colours = colours(block);
        let accents: Vec<_> = block
            .lines()
            .filter_map(|line| line.trim().strip_prefix(".accent-")?.split_once(" { --accent: "))
            .map(|(name, value)| (name, rgb(value.trim_end_matches("; }")).unwrap()))
            .collect();
        assert_eq!(accents.len(), 5);
        let grounds = ["ground", "surface"];
        for (text, grounds, least) in [
            (
                "text",
                &["ground", "surface", "inset", "bad-ground", "good-ground", "warn-ground"][..],
                7.0,
            ),
            ("text-soft", &["ground", "surface", "inset", "bad-ground", "good-ground"][..], 4.5),
            ("bad", &["ground", "surface", "bad-ground"], 4.5),
            ("good", &["ground", "surface", "good-ground"], 4.5),
            ("warn", &["ground", "surface", "warn-ground"], 4.5),
            ("on-mark", &["mark"], 4.5),
            ("line-strong", &grounds, 3.0),
        ] {
            for ground in grounds {
                let found = contrast(colours[text], colours[ground]);
                assert!(found >= least, "{theme}: {text} on {ground} has {found:.2}");
            }
        }
        for (name, accent) in accents {
            colours.insert("accent", accent);
            for (text, ground) in
                [("accent", "ground"), ("accent", "surface"), ("on-accent", "accent")]
            {
                let found = contrast(colours[text], colours[ground]);
                assert!(found >= 4.5, "{theme}, {name}: {text} on {ground} has {found:.2}");
            }
        }
    }
}

async fn translated(request: HttpRequest) -> HttpResponse {
    let links = ["Veranstaltungen", "Schnittstelle"];
    let words = FrameWords {
        skip: "Zum Inhalt",
        navigation: "Website",
        links: &links,
        programs: "F\u{fc}r <a href=\"/docs/\">Programme</a>",
        languages: "Sprachen",
    };
    let translation = |language, name, url| Translation { language, name, url };
    let page = Page::new("Fest")
        .language("de")
        .right_to_left(true)
        .words(words)
        .query("?lang=de")
        .translations(vec![
            translation("en", "English", "https://town.example/"),
            translation("de", "Deutsch", "https://town.example/?lang=de"),
        ]);
    SITE.respond_shared(&request, &page, &Hello { greeting: "Fest" })
}

#[actix_web::test]
async fn page_in_another_language_has_its_words_and_translations() {
    let app = App::new().route("/", web::get().to(translated));
    let response = call_service(&init_service(app).await, get("/").to_request()).await;
    let html = String::from_utf8(read_body(response).await.to_vec()).unwrap();
    for text in [
        "<html lang=\"de\" dir=\"rtl\" class=",
        "href=\"#content\">Zum Inhalt</a>",
        "<nav id=\"navigation\" aria-label=\"Website\">",
        "<a class=\"brand\" href=\"/?lang=de\">",
        "<a href=\"/events?lang=de\">Veranstaltungen</a>",
        "<a href=\"/docs/\">Schnittstelle</a>",
        "<p>F\u{fc}r <a href=\"/docs/\">Programme</a></p>",
        "<link rel=\"alternate\" hreflang=\"x-default\" href=\"https://town.example/\">",
        "<link rel=\"alternate\" hreflang=\"de\" href=\"https://town.example/?lang=de\">",
        "<nav class=\"languages\" aria-label=\"Sprachen\">",
        "hreflang=\"en\">English</a>",
        "hreflang=\"de\" aria-current=\"page\">Deutsch</a>",
    ] {
        assert!(html.contains(text), "{text} in {html}");
    }
}

#[test]
fn the_icon_has_the_accent_of_the_style_sheet() {
    for accent in [Accent::Blue, Accent::Green, Accent::Indigo, Accent::Plum, Accent::Teal] {
        let rule = format!(".{} {{ --accent: {}; }}", accent.class(), accent.colour());
        assert!(STYLE.contains(&rule), "{rule}");
    }
}
