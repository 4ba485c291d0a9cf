//! The page on which editors manage subscriptions to other calendars.

use std::time::Duration;

use calendar::Language;
use serde_json::json;

use crate::app::{Answer, send};
use crate::page_languages::{ALL, words_of};
use crate::subscribing::{Subscribing, file_of};

#[actix_web::test]
async fn page_shows_subscriptions_to_editors_who_send_their_key() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a", "b"]));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    club.serves(&file_of(&[]));
    club.run_now(id).await;
    let get = || club.app.server.get("/subscriptions/");
    let asked = send(get()).await.expect(401);
    assert_eq!(asked.header("www-authenticate"), "Basic realm=\"calendar\", charset=\"UTF-8\"");
    send(get().basic_auth("editor", Some("wrong"))).await.expect(401);
    send(get().basic_auth("author", Some(club.app.key("author")))).await.expect(403);
    let key = club.app.key("editor");
    let page = send(get().basic_auth("editor", Some(key))).await.expect(200);
    assert_eq!(page.header("cache-control"), "no-store");
    for text in [
        club.peer.url("/club.ics").as_str(),
        "This subscription has stopped. The file lacks 2 future events.",
        "2 of 2 future events are missing from the file",
        "<time datetime=\"2027-03-10 12:00:01Z\">10 March 2027, 12:00</time> · Stopped",
        "value=\"accept\"",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let form = |step: &str, origin: String| {
        let form = club.app.server.post("/subscriptions/").basic_auth("editor", Some(key));
        let form = form.header("content-type", "application/x-www-form-urlencoded");
        form.header("origin", origin).body(format!("id={id}&step={step}"))
    };
    let own = club.app.server.url("").trim_end_matches('/').to_owned();
    send(form("accept", "https://other.example".to_owned())).await.expect(403);
    send(form("dance", own.clone())).await.expect(400);
    assert_eq!(club.shown(id).await["state"], "stopped");
    let moved = send(form("accept", own)).await.expect(303);
    assert_eq!(moved.header("location"), "/subscriptions/");
    assert_eq!(club.run(id).await["last_run"]["trashed"], 2);
}

async fn shown(club: &Subscribing, path: &str) -> Answer {
    let get = club.app.server.get(path).header("accept", "text/html");
    send(get.basic_auth("editor", Some(club.app.key("editor")))).await
}

/// A subscription that stopped, one that fails, one that was paused, and one that never ran.
async fn in_each_state(settings: &[&str]) -> Subscribing {
    let club = Subscribing::with(settings, Duration::from_secs(30)).await;
    club.serves(&file_of(&["a", "b", "c"]));
    let id = club.subscribe(json!({"interval": 1440})).await;
    club.run(id).await;
    let event = club.event_of("a");
    club.app.patch(&format!("/events/{event}"), &json!({"title": "Changed"})).await.expect(200);
    club.serves(&file_of(&[]));
    club.run_now(id).await;
    let fails = club.subscribe_to(&club.peer.url("/fails.ics"), json!({"interval": 90})).await;
    club.serves("not a calendar");
    club.run(fails).await;
    club.run_now(fails).await;
    let paused = club.subscribe_to(&club.peer.url("/paused.ics"), json!({})).await;
    club.step(paused, "pause").await;
    club.subscribe_to(&club.peer.url("/new.ics"), json!({"interval": 120})).await;
    club
}

#[actix_web::test]
async fn page_has_the_words_and_the_direction_of_each_language() {
    let club = in_each_state(&["--site-locales", ALL]).await;
    let mut seen = String::new();
    for language in Language::ALL {
        let code = language.code();
        let page = shown(&club, &format!("/subscriptions/?lang={code}")).await.expect(200);
        let direction = if language == Language::Ar { " dir=\"rtl\"" } else { "" };
        assert!(page.text.contains(&format!("<html lang=\"{code}\"{direction} class=")), "{code}");
        let title = format!("<title>{} ", language.words().subscriptions);
        assert!(page.text.contains(&title), "{title} in {}", page.text);
        let main = page.text.split_once("<main").unwrap().1.split_once("</main>").unwrap().0;
        seen.push_str(&format!("== {code}\n{}\n", words_of(main).join(" | ")));
    }
    insta::assert_snapshot!("words_of_subscriptions", seen);
}

#[actix_web::test]
async fn forms_errors_and_links_keep_the_language() {
    let club = in_each_state(&["--site-locale=de", "--site-locales=ja"]).await;
    let german = shown(&club, "/subscriptions/").await.expect(200);
    assert!(
        german.text.contains("<html lang=\"de\"")
            && german.text.contains(Language::De.words().stopped)
    );
    assert!(german.text.contains("action=\"/subscriptions/\""), "{}", german.text);
    let page = shown(&club, "/subscriptions/?lang=ja").await.expect(200);
    for link in [
        "<form method=\"post\" action=\"/subscriptions/?lang=ja\">",
        "href=\"/events/?lang=ja\"",
        "/subscriptions/\" lang=\"de\" hreflang=\"de\"",
        "/subscriptions/?lang=ja\" lang=\"ja\" hreflang=\"ja\" aria-current=\"page\"",
    ] {
        assert!(page.text.contains(link), "{link}: {}", page.text);
    }
    let own = club.app.server.url("").trim_end_matches('/').to_owned();
    let form = |step: &str| {
        let form = club.app.server.post("/subscriptions/?lang=ja").header("origin", own.clone());
        let form = form.basic_auth("editor", Some(club.app.key("editor")));
        let form = form.header("content-type", "application/x-www-form-urlencoded");
        form.body(format!("id=1&step={step}"))
    };
    let moved = send(form("pause")).await.expect(303);
    assert_eq!(moved.header("location"), "/subscriptions/?lang=ja");
    assert!(send(form("dance")).await.expect(400).text.contains("「step」の値が無効です。"));
    let asked = send(club.app.server.get("/subscriptions/")).await.expect(401);
    assert!(asked.text.contains(Language::De.words().rejected), "{}", asked.text);
}

#[actix_web::test]
async fn page_without_subscriptions_says_so_in_the_language() {
    let settings = ["--site-locale=uk"];
    let club = Subscribing::with(&settings, Duration::from_secs(30)).await;
    let page = shown(&club, "/subscriptions/").await.expect(200);
    assert!(page.text.contains(Language::Uk.words().no_subscriptions), "{}", page.text);
}
