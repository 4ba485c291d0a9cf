//! Pages in the languages of the site: words, links, feeds and errors.

use calendar::Language;
use serde_json::json;

use crate::app::{Answer, App, send};
use crate::pages::{between, page, with_events_and};

/// The languages of the pages.
pub const ALL: &str = "ar cs de en es fr it ja nl pl pt sv uk zh";

/// Starts a calendar with all languages and an event of each kind.
pub async fn in_all_languages() -> App {
    with_events_and(&["--site-locales", ALL]).await
}

/// Returns the text that people see or hear, without markup.
pub fn words(page: &Answer) -> Vec<String> {
    words_of(page.text.split_once("<body>").map_or(page.text.as_str(), |(_, body)| body))
}

/// Returns the text that people see or hear in part of a page.
pub fn words_of(body: &str) -> Vec<String> {
    let mut words = Vec::new();
    for piece in body.split('<') {
        let (tag, text) = piece.split_once('>').unwrap_or(("", piece));
        for name in ["aria-label=\"", "placeholder=\"", "abbr=\""] {
            if let Some((_, rest)) = tag.split_once(name) {
                words.push(rest.split_once('"').unwrap().0.to_owned());
            }
        }
        words.push(text.trim().to_owned());
    }
    words.retain(|text| !text.is_empty() && !text.contains("http://"));
    words
}

/// Returns all links within the site.
fn hrefs(page: &Answer) -> Vec<String> {
    let links = page.text.split(" href=\"").skip(1);
    let links = links.map(|rest| rest.split_once('"').unwrap().0.replace("&#38;", "&"));
    links.filter(|href| href.starts_with('/')).collect()
}

#[actix_web::test]
async fn list_has_the_words_of_each_language() {
    let app = in_all_languages().await;
    let mut shown = String::new();
    for language in Language::ALL {
        let page = page(&app, &format!("/events/?lang={}", language.code())).await.expect(200);
        shown.push_str(&format!("== {}\n{}\n", language.code(), words(&page).join(" | ")));
    }
    insta::assert_snapshot!("words_of_the_list", shown);
}

#[actix_web::test]
async fn no_page_has_english_words_in_another_language() {
    let app = in_all_languages().await;
    let id = app.get("/events?search=brass").await.ids()[0];
    let cancelled = json!({"event_status": "cancelled", "event_status_reason": "—"});
    app.patch(&format!("/events/{id}"), &cancelled).await.expect(200);
    // Whole words that are not words of another language.
    let english = "admission and calendar cancelled category earlier event events featured find for free march mon \
                   monday nothing organizer please search skip subscribe sun sunday the this today try until upcoming \
                   when wrong";
    let is_english =
        |word: &str| english.split_whitespace().any(|one| word.eq_ignore_ascii_case(one));
    for language in Language::ALL.into_iter().filter(|language| *language != Language::En) {
        for path in [
            "/events/",
            "/events/?search=brass",
            "/events/?search=nowhere",
            "/events/month/2027-03/",
            "/events/month/2029-03/",
            "/events/day/2027-03-14/",
            "/events/day/2029-03-14/",
            "/events/week/2027-W10/",
            "/event/brass-embers/",
            "/event/over/",
            "/event/behind-a-password/",
            "/venue/lantern-hall/",
            "/organizer/ann-co/",
            "/events/category/culture/concert/",
            "/tag/open-air/",
            "/embed/list",
            "/embed/month?month=2027-03",
            "/nowhere",
            "/events/?date=x",
            "/events/?tag=none",
            "/events/?page=99",
        ] {
            let mark = if path.contains('?') { '&' } else { '?' };
            let shown = page(&app, &format!("{path}{mark}lang={}", language.code())).await;
            let direction = if language == Language::Ar { " dir=\"rtl\"" } else { "" };
            let root = format!("<html lang=\"{}\"{direction} class=", language.code());
            assert!(shown.text.contains(&root), "{path} {language:?}");
            for text in words(&shown) {
                let found = text
                    .split(|letter: char| !letter.is_alphanumeric())
                    .find(|word| is_english(word));
                assert_eq!(found, None, "{text} on {path} in {language:?}");
            }
        }
    }
}

#[actix_web::test]
async fn links_keep_the_language() {
    let app = with_events_and(&["--site-locale=de", "--site-locales=ja en"]).await;
    for path in [
        "/events/?lang=ja",
        "/events/month/2027-03/?lang=ja",
        "/events/week/2027-W10/?lang=ja",
        "/event/brass-embers/?lang=ja",
        "/venue/lantern-hall/?lang=ja",
        "/events/category/culture/concert/?lang=ja",
        "/nowhere?lang=ja",
        "/embed/list?lang=ja",
        "/embed/month?lang=ja",
    ] {
        let shown = page(&app, path).await;
        let links = hrefs(&shown);
        assert!(links.len() > 3, "{path}");
        for href in links.iter().filter(|href| !href.starts_with("/assets/")) {
            // The file of a week has the days of the page.
            let is_for_programs = ["/docs/", "/openapi.json"].contains(&href.as_str())
                || (href.contains("ical=1") && !href.contains("/week/"));
            assert_eq!(href.contains("lang=ja"), !is_for_programs, "{href} on {path}");
        }
    }
    let list = page(&app, "/events/?lang=ja&search=brass").await.expect(200);
    assert!(list.text.contains("<input type=\"hidden\" name=\"lang\" value=\"ja\">"));
    let german = page(&app, "/events/?search=brass").await.expect(200);
    assert!(
        !german.text.contains("name=\"lang\"") && german.text.contains("1 Veranstaltung gefunden.")
    );
    for (path, location) in [
        ("/?lang=ja", "/events/?lang=ja"),
        ("/events/list/?lang=ja", "/events/?lang=ja"),
        ("/events/2027-03/?lang=ja", "/events/month/2027-03/?lang=ja"),
        ("/?tribe_events=brass-embers&lang=ja", "/event/brass-embers/?lang=ja"),
        ("/?lang=de", "/events/"),
        ("/?lang=fr", "/events/"),
        ("/?lang=JA", "/events/?lang=ja"),
        ("/events/list/?lang=ja-JP", "/events/?lang=ja"),
    ] {
        assert_eq!(page(&app, path).await.header("location"), location, "{path}");
    }
    let id = app.get("/events?search=brass").await.ids()[0];
    app.patch(&format!("/events/{id}"), &json!({"slug": "embers"})).await.expect(200);
    let moved = page(&app, "/event/brass-embers/?lang=ja").await.expect(301);
    assert_eq!(moved.header("location"), "/event/embers/?lang=ja");
}

#[actix_web::test]
async fn pages_name_their_translations() {
    let app = with_events_and(&["--site-locale=de", "--site-locales=ja en"]).await;
    let base = app.server.url("");
    let base = base.trim_end_matches('/');
    for (path, plain) in [
        ("/events/?search=brass&lang=en", "/events/?search=brass"),
        ("/event/brass-embers/?lang=en", "/event/brass-embers/"),
        ("/events/month/2027-03/?lang=en", "/events/month/2027-03/"),
    ] {
        let shown = page(&app, path).await.expect(200).text.replace("&#38;", "&");
        let mark = if plain.contains('?') { '&' } else { '?' };
        for link in [
            format!("<link rel=\"canonical\" href=\"{base}{plain}{mark}lang=en\">"),
            format!("<link rel=\"alternate\" hreflang=\"x-default\" href=\"{base}{plain}\">"),
            format!("<link rel=\"alternate\" hreflang=\"de\" href=\"{base}{plain}\">"),
            format!("<link rel=\"alternate\" hreflang=\"ja\" href=\"{base}{plain}{mark}lang=ja\">"),
            format!(
                "<a href=\"{base}{plain}{mark}lang=en\" lang=\"en\" hreflang=\"en\" aria-current=\"page\">English</a>"
            ),
        ] {
            assert!(shown.contains(&link), "{link} on {path}: {shown}");
        }
    }
    // The default language has no parameter, and a language that is not offered is ignored.
    for path in [
        "/event/brass-embers/?lang=de",
        "/event/brass-embers/?lang=fr",
        "/event/brass-embers/?lang=",
    ] {
        let shown = page(&app, path).await.expect(200);
        assert!(
            shown.text.contains(&format!("rel=\"canonical\" href=\"{base}/event/brass-embers/\""))
        );
        assert!(
            shown.text.contains("<html lang=\"de\"")
                && shown.text.contains("Sonntag, 14. März 2027")
        );
    }
    // A site with one language has no links to others.
    let app = with_events_and(&["--site-locale=de"]).await;
    let shown = page(&app, "/event/brass-embers/?lang=en").await.expect(200);
    assert!(!shown.text.contains("hreflang") && shown.text.contains("<html lang=\"de\""));
}

#[actix_web::test]
async fn kept_answer_is_not_reused_in_another_language() {
    let app = with_events_and(&["--render-cache-mb=4", "--site-locales=de ar"]).await;
    for path in ["/events/month/2027-03/", "/embed/month?month=2027-03", "/events/atom.xml"] {
        let mark = if path.contains('?') { '&' } else { '?' };
        for _ in 0..2 {
            for (code, word) in [("en", "Sunday"), ("de", "Sonntag"), ("ar", "الأحد")] {
                let shown = page(&app, &format!("{path}{mark}lang={code}")).await.expect(200);
                assert!(shown.text.contains(word), "{path} {code}");
            }
        }
    }
}

#[actix_web::test]
async fn weeks_and_months_begin_on_the_first_day_of_the_language() {
    let app = in_all_languages().await;
    // 14 March 2027 is a Sunday.
    for (code, title, events) in [
        ("de", "8.–14. März 2027", 4),
        ("ja", "2027年3月7日～13日", 2),
        ("pt", "7\u{2009}–\u{2009}13 de março de 2027", 2),
        ("ar", "6–12 مارس 2027", 2),
    ] {
        let week = page(&app, &format!("/events/week/2027-W10/?lang={code}")).await.expect(200);
        assert!(week.text.contains(&format!("<h1>{title}</h1>")), "{code}");
        assert_eq!(week.text.matches("<article class=\"event").count(), events, "{code}");
    }
    // The current day is Wednesday of week 10. The Sunday before 15 March begins week 11.
    let next = page(&app, "/events/week/2027-W10/?lang=ja").await;
    assert!(next.text.contains("rel=\"next\" href=\"/events/week/2027-W11/?lang=ja\""));
    // The file has the same days.
    let file = "/events/week/2027-W10/?lang=ja&ical=1";
    for link in ["href=\"webcal://", "href=\"http"] {
        let is_file = |rest: &str| {
            rest.split('"').next().is_some_and(|href| href.replace("&#38;", "&").ends_with(file))
        };
        assert!(next.text.split(link).skip(1).any(is_file), "{link}");
    }
    let entries = page(&app, file).await.expect(200).text.matches("BEGIN:VEVENT").count();
    assert_eq!(entries, 2);
    let current = page(&app, "/events/week/?lang=ar").await.expect(200);
    assert!(current.text.contains("<h1>6–12 مارس 2027</h1>"));
    // 1 March 2027 is a Monday: the second day of a Japanese week, the third of an Arabic one.
    for (code, first, blanks) in [("de", "Mo", 0), ("ja", "日", 1), ("ar", "السبت", 2)] {
        let month = page(&app, &format!("/events/month/2027-03/?lang={code}")).await.expect(200);
        let head = between(&month, "<thead><tr>", "</tr>");
        assert!(head.starts_with(&format!("<th scope=\"col\" abbr=\"{first}\">")), "{head}");
        let week = between(&month, "<tbody>", "</tr>");
        assert_eq!(week.matches("class=\"outside\"").count(), blanks, "{code}");
    }
}

#[actix_web::test]
async fn times_and_prices_have_the_form_of_the_language() {
    let app = in_all_languages().await;
    for (code, when, cost) in [
        ("en", "Sunday, 14 March 2027, 19:30 – 22:00", "€15 – €25"),
        ("de", "Sonntag, 14. März 2027, 19:30–22:00 Uhr", "15–25\u{a0}€"),
        ("fr", "Dimanche 14 mars 2027, 19:30\u{2009}–\u{2009}22:00", "15–25\u{a0}€"),
        ("nl", "Zondag 14 maart 2027, 19:30–22:00", "€\u{a0}15-25"),
        ("ja", "2027年3月14日日曜日 19:30～22:00", "€15 ～ €25"),
        ("ar", "الأحد، 14 مارس 2027، 7:30–10:00 م", "\u{200f}15–25\u{a0}€"),
    ] {
        let event = page(&app, &format!("/event/brass-embers/?lang={code}")).await.expect(200);
        assert!(event.text.contains(&format!("+01:00\">{when}</time>")), "{code}: {}", event.text);
        assert!(event.text.contains(&format!("<dd>{cost}</dd>")), "{code}: {}", event.text);
        assert!(event.text.contains("Europe/Vienna (CET)"));
    }
    let free = page(&app, "/event/long-exhibition/?lang=de").await.expect(200);
    assert!(free.text.contains("<dd>Kostenlos</dd>"));
    app.event(json!({"title": "Gala", "cost": "Free - $1,234.50"})).await;
    app.event(json!({"title": "Talk", "cost": "On request"})).await;
    for (path, cost) in [
        ("/event/gala/?lang=de", "Kostenlos\u{2009}–\u{2009}1.234,50\u{a0}$"),
        ("/event/talk/?lang=de", "On request"),
        ("/event/gala/?lang=en", "Free – $1,234.50"),
    ] {
        let event = page(&app, path).await.expect(200);
        assert!(event.text.contains(&format!("<dd>{cost}</dd>")), "{path}: {}", event.text);
    }
}

#[actix_web::test]
async fn answers_of_the_interface_do_not_depend_on_the_language() {
    let (english, german) =
        (with_events_and(&[]).await, with_events_and(&["--site-locale=de"]).await);
    for path in ["/events", "/events/1?lang=ja", "/venues", "/categories", "/events/999"] {
        let stable = async |app: &App| {
            let base = app.server.url("");
            let base = base.trim_end_matches('/');
            let host = base.trim_start_matches("http://");
            app.get(path).await.text.replace(base, "").replace(host, "")
        };
        assert_eq!(stable(&english).await, stable(&german).await, "{path}");
    }
    let feed = page(&german, "/events/?ical=1").await.expect(200);
    assert!(feed.text.contains("X-WR-CALDESC:Veranstaltungen: Town <hall>"), "{}", feed.text);
}

#[actix_web::test]
async fn atom_feed_and_script_of_frames_have_the_language() {
    let app = with_events_and(&["--site-locale=de", "--site-locales=ja"]).await;
    let id = app.get("/events?search=brass").await.ids()[0];
    let cancelled = json!({"event_status": "cancelled"});
    app.patch(&format!("/events/{id}"), &cancelled).await.expect(200);
    let german = page(&app, "/events/atom.xml").await.expect(200);
    assert!(german.text.contains("xml:lang=\"de\"") && german.text.contains(">Abgesagt: Brass"));
    let summary =
        "<summary>Sonntag, 14. März 2027, 19:30–22:00 Uhr, Lantern Hall, Port Marrow. An evening.";
    assert!(german.text.contains(summary), "{}", german.text);
    let japanese = page(&app, "/events/atom.xml?lang=ja").await.expect(200);
    assert!(japanese.text.contains(">【中止】Brass"));
    assert!(japanese.text.contains("/event/brass-embers/?lang=ja"));
    assert_ne!(german.header("etag"), japanese.header("etag"));
    let script = page(&app, "/embed.js").await.expect(200);
    assert!(script.text.contains("new Map([[\"de\",\"Veranstaltungen\"],[\"ja\",\"イベント\"]])"));
    assert!(script.text.len() < 3000);
}

#[actix_web::test]
async fn error_pages_have_the_language() {
    let app =
        with_events_and(&["--site-locale=de", "--site-locales=pl", "--rate-read-rpm=8"]).await;
    for (path, status, words) in [
        ("/events/?date=x", 400, "Das Datum muss die Form 2027-03-14 haben."),
        ("/events/?search=%22&lang=pl", 400, "To wyszukiwanie jest nieprawidłowe."),
        ("/events/?search=%FF&lang=pl", 400, "To wyszukiwanie jest nieprawidłowe."),
        ("/embed/list?theme=red", 400, "Der Wert von „theme“ ist ungültig."),
        ("/event/none/?lang=pl", 404, "<h1>Nie znaleziono strony</h1>"),
        ("/nowhere", 404, "<h1>Seite nicht gefunden</h1>"),
    ] {
        let shown = page(&app, path).await.expect(status);
        assert!(shown.text.contains(words), "{path}: {}", shown.text);
    }
    let wrong = app.server.get("/events/").header("x-api-key", "0".repeat(32));
    let wrong = send(wrong).await.expect(401);
    assert!(wrong.text.contains("Die Anfrage wurde abgelehnt."), "{}", wrong.text);
    let limited = loop {
        let answer = page(&app, "/events/?lang=pl").await;
        if answer.status == 429 {
            break answer;
        }
    };
    assert!(
        limited.text.contains("Zbyt wiele żądań") && limited.text.contains("Spróbuj ponownie za")
    );
}
