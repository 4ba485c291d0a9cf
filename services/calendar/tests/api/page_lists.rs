//! List pages, their calendar files, and error pages.

use calendar::Language;
use reqwest::Method;
use serde_json::json;
use testkit::until;

use crate::app::{Answer, App, send};
use crate::page_languages::in_all_languages;
use crate::pages::{page, stable, with_events};

#[actix_web::test]
async fn each_page_offers_its_calendar_file() {
    let app = with_events().await;
    for (path, expected) in [
        ("/events/", "Long exhibition, Over, Two days, Brass & Embers, Behind a password"),
        ("/events/?search=evening", "Brass & Embers"),
        ("/events/?category=culture", "Brass & Embers"),
        ("/events/?date=2027-03-15", "Long exhibition, Two days"),
        ("/events/month/", "Long exhibition, Over, Two days, Brass & Embers, Behind a password"),
        ("/events/month/2027-03/", "Long exhibition, Over, Two days, Brass & Embers"),
        ("/event/two-days/", "Two days"),
        ("/venue/barn/", "Long exhibition"),
        ("/organizer/ann-co/", "Brass & Embers"),
        ("/events/category/culture/", "Brass & Embers"),
        ("/events/category/culture/concert/", "Brass & Embers"),
        ("/tag/open-air/", "Brass & Embers"),
    ] {
        let more = if path.contains('?') { '&' } else { '?' };
        let feed = page(&app, &format!("{path}{more}ical=1")).await.expect(200);
        assert_eq!(feed.header("content-type"), "text/calendar; charset=UTF-8", "{path}");
        let titles: Vec<&str> =
            feed.text.lines().filter_map(|line| line.strip_prefix("SUMMARY:")).collect();
        assert_eq!(titles.join(", "), expected, "{path}");
        let outlook = page(&app, &format!("{path}{more}outlook-ical=1")).await.expect(200);
        assert!(feed.text.contains("X-WR-CALNAME") && !outlook.text.contains("X-WR-CALNAME"));
    }
    let list = page(&app, "/events/?search=evening").await.expect(200);
    let host = app.server.url("").trim_end_matches('/').trim_start_matches("http://").to_owned();
    assert!(
        list.text.contains(&format!("href=\"webcal://{host}/events/?search=evening&#38;ical=1\""))
    );
    for path in
        ["/events/", "/events/month/2027-03/", "/event/two-days/", "/venue/barn/", "/tag/open-air/"]
    {
        let discovery = "<link rel=\"alternate\" type=\"text/calendar\" title=\"Town &#60;hall&#62;\" \
                         href=\"/events/?ical=1\">";
        assert!(page(&app, path).await.text.contains(discovery), "{path}");
    }
}

#[actix_web::test]
async fn past_events_are_listed_newest_first() {
    let app = with_events().await;
    for (title, day) in [("Oldest", "2026-12-30"), ("Older", "2027-01-05"), ("Old", "2027-03-09")] {
        let (start, end) = (format!("{day} 10:00"), format!("{day} 11:00"));
        app.event(json!({"title": title, "start_date": start, "end_date": end})).await;
    }
    let titles = |page: &Answer| -> Vec<String> {
        let cards = page.text.split("<article class=\"event").skip(1);
        let links = cards.map(|card| between_tags(card.split("<a ").nth(1).unwrap()));
        links.collect()
    };
    let past = page(&app, "/events/?eventDisplay=past").await.expect(200);
    assert_eq!(titles(&past), ["Over", "Old", "Older", "Oldest"]);
    assert!(past.text.contains("<h1>Past events</h1>"), "{}", past.text);
    assert!(past.text.contains("<input type=\"hidden\" name=\"eventDisplay\" value=\"past\">"));
    let found = page(&app, "/events/?search=old&eventDisplay=past").await.expect(200);
    assert_eq!(titles(&found), ["Old", "Older", "Oldest"]);
    assert!(found.text.contains("<a href=\"/events/?eventDisplay=past\">Show all</a>"));
    let none = page(&app, "/events/?search=nothing&eventDisplay=past").await.expect(200);
    assert_eq!(titles(&none), [""; 0]);
    // The list of upcoming events, a day, and calendar files are not affected.
    let day = page(&app, "/events/?date=2027-03-14&eventDisplay=past").await.expect(200);
    assert_eq!(titles(&day).len(), 3);
    let feed = page(&app, "/events/?ical=1&eventDisplay=past").await.expect(200);
    assert!(feed.text.contains("SUMMARY:Two days"), "{}", feed.text);
    let frame = page(&app, "/embed/list?eventDisplay=past").await.expect(200);
    assert!(frame.text.contains("Two days") && !frame.text.contains("Older"));
}

/// Returns the text of the first element, whose name has been cut off.
fn between_tags(element: &str) -> String {
    let (_, rest) = element.split_once('>').unwrap();
    rest.split_once('<').unwrap().0.trim().to_owned()
}

#[actix_web::test]
async fn list_of_past_events_has_a_title_in_each_language() {
    let app = in_all_languages().await;
    for language in Language::ALL {
        let path = format!("/events/?eventDisplay=past&lang={}", language.code());
        let list = page(&app, &path).await.expect(200);
        let title = format!("<h1>{}</h1>", language.words().past);
        assert!(list.text.contains(&title), "{path}: {}", list.text);
    }
}

#[actix_web::test]
async fn past_events_have_pages() {
    let app = App::new().await;
    for day in 1..=9 {
        for hour in [10, 12] {
            let date = format!("2027-02-0{day} {hour}:00");
            app.event(
                json!({"title": format!("{day}-{hour}"), "start_date": date, "end_date": date}),
            )
            .await;
        }
    }
    let first = page(&app, "/events/?eventDisplay=past").await.expect(200);
    assert!(
        first.text.contains("href=\"/events/?eventDisplay=past&#38;page=2\""),
        "{}",
        first.text
    );
    let second = page(&app, "/events/?eventDisplay=past&page=2").await.expect(200);
    assert!(first.text.contains("9-12") && !first.text.contains("1-10"));
    assert!(second.text.contains("1-10") && !second.text.contains("9-12"));
}

#[actix_web::test]
async fn category_below_a_renamed_parent_redirects_to_its_new_path() {
    let app = with_events().await;
    page(&app, "/events/category/culture/concert/").await.expect(200);
    app.patch("/categories/1", &json!({"slug": "arts"})).await.expect(200);
    for path in ["/events/category/culture/concert/", "/events/category/x/y/concert/"] {
        let moved = page(&app, &format!("{path}?page=1")).await.expect(301);
        assert_eq!(moved.header("location"), "/events/category/arts/concert/?page=1", "{path}");
        // The category may move back.
        assert_eq!(moved.header("cache-control"), "no-cache");
        page(&app, &format!("{path}?page=9")).await.expect(301);
    }
    page(&app, "/events/category/concert/?eventDisplay=past&page=2").await.expect(301);
    page(&app, "/events/category/concert/?page=9").await.expect(404);
    // The path without the parent, and calendar files, continue to be answered.
    page(&app, "/events/category/concert/").await.expect(200);
    page(&app, "/events/category/culture/concert/?ical=1").await.expect(200);
}

#[actix_web::test]
async fn list_page_filters_and_pages() {
    let app = with_events().await;
    let count = |page: &Answer| page.text.matches("<article class=\"event").count();
    for (query, expected) in [
        ("?search=&category=&tag=&page=", 4),
        ("?search=EVENING", 1),
        ("?search=brass+-evening", 0),
        ("?category=culture", 1),
        ("?tag=open-air", 1),
        ("?category=concert&tag=open-air&search=brass", 1),
        ("?date=2027-03-15", 2),
        ("?date=2027-03-10", 2),
    ] {
        let list = page(&app, &format!("/events/{query}")).await.expect(200);
        assert_eq!(count(&list), expected, "{query}");
    }
    for number in 0..10 {
        app.event(json!({"title": format!("More {number}"), "tags": ["many"]})).await;
    }
    let first = page(&app, "/events/").await.expect(200);
    assert!(count(&first) == 10 && first.text.contains("Page 1 of 2"));
    assert!(first.text.contains("rel=\"next\" href=\"/events/?page=2\""));
    let second = page(&app, "/events/?page=2").await.expect(200);
    assert!(count(&second) == 4 && second.text.contains("rel=\"prev\" href=\"/events/\""));
    assert!(second.text.contains("/events/?page=2\">\n"), "its canonical address");
    app.event(json!({"title": "More", "tags": ["many"]})).await;
    let tag = page(&app, "/tag/many/").await.expect(200);
    assert!(tag.text.contains("href=\"/tag/many/?page=2\""));
    assert_eq!(count(&page(&app, "/tag/many/?page=2&search=x").await.expect(200)), 1);
}

#[actix_web::test]
async fn page_with_a_known_tag_gets_304_until_a_change() {
    let app = with_events().await;
    let again =
        async |path: &str, tag: &str| send(app.server.get(path).header("if-none-match", tag)).await;
    for path in ["/events/", "/events/month/2027-03/", "/event/brass-embers/", "/tag/open-air/"] {
        let tag = page(&app, path).await.expect(200).header("etag").to_owned();
        assert!(tag.starts_with("W/\""), "{tag}");
        assert_eq!(again(path, &tag).await.expect(304).text, "");
        let id = app.get("/events?search=brass").await.ids()[0];
        let title = format!("Brass {}", path.len());
        app.patch(&format!("/events/{id}"), &json!({"title": title})).await.expect(200);
        again(path, &tag).await.expect(200);
    }
}

#[actix_web::test]
async fn past_event_is_on_the_month_page_but_not_in_the_list() {
    let app = with_events().await;
    assert!(!page(&app, "/events/").await.text.contains(">Over<"));
    assert!(page(&app, "/events/month/2027-03/").await.text.contains("Over"));
    let event = page(&app, "/event/over/").await.expect(200);
    assert!(event.text.contains("This event is over."));
    app.clock.advance(5 * 86_400);
    let list = page(&app, "/events/").await.text;
    assert!(!list.contains("Brass") && list.contains("Two days") && list.contains("On now"));
}

#[actix_web::test]
async fn invalid_page_urls_get_an_error_page() {
    let app = with_events().await;
    for path in [
        "/nowhere",
        "/event/none/",
        "/event/none/x",
        "/venue/none/",
        "/organizer/none/",
        "/tag/none/",
        "/events/category/none/",
        "/events/category/culture/none/",
        "/events/month/2027-13/",
        "/events/month/march/",
        "/events/?page=9",
        "/events/?page=0",
        "/events/?page=x",
        "/tag/open-air/?page=2",
    ] {
        let missing = page(&app, path).await.expect(404);
        assert!(missing.text.contains("<h1>Page not found</h1>"), "{path}: {}", missing.text);
        assert!(missing.text.contains("Town &#60;hall&#62;</a>"), "{path}");
    }
    for (query, said) in [
        ("?date=soon", "The date must be a day"),
        ("?date=9999-12-31", "This day is not in the calendar."),
        ("?category=none", "This category does not exist."),
        ("?tag=none", "This tag does not exist."),
        ("?search=%22", "The search must"),
        ("?search=%FF", "The search must"),
    ] {
        let wrong = page(&app, &format!("/events/{query}")).await.expect(400);
        assert!(wrong.text.contains(said), "{query}: {}", wrong.text);
    }
    let key =
        send(app.server.get("/events/").header("x-api-key", "0".repeat(32))).await.expect(401);
    assert!(key.text.contains("<h1>"));
}

#[actix_web::test]
async fn unknown_path_gets_html_for_browsers_and_json_for_programs() {
    let app = with_events().await;
    let missing = page(&app, "/events/nope").await.expect(404);
    assert_eq!(missing.header("cache-control"), "no-store");
    assert!(missing.header("content-security-policy").starts_with("default-src 'none'"));
    insta::assert_snapshot!("missing_page", stable(&app, &missing));
    // HEAD returns the status of GET, without a body.
    for path in ["/events/month/2026-99/", "/event/none/", "/", "/events/"] {
        let html = |method: Method| app.server.request(method, path).header("accept", "text/html");
        let (get, head) = (send(html(Method::GET)).await, send(html(Method::HEAD)).await);
        assert_eq!((head.status, head.text.as_str()), (get.status, ""), "{path}");
    }
    for path in ["/events/nope", "/event/none/more"] {
        let head = app.server.request(Method::HEAD, path).header("accept", "text/html");
        let head = send(head).await.expect(404);
        assert_eq!(
            (head.header("content-type"), head.text.as_str()),
            ("text/html; charset=utf-8", ""),
            "{path}"
        );
    }
    // API clients still get JSON, regardless of their Accept header.
    assert_eq!(send(app.server.get("/nowhere")).await.expect(404).code(), "rest_no_route");
    for path in [
        "/calendar/events/v1/nowhere",
        "/wp-json",
        "/wp-json/",
        "/wp-json/nowhere",
        "/wp-json/tribe/events/v1/nowhere",
    ] {
        let missing = page(&app, path).await.expect(404);
        assert_eq!(missing.code(), "rest_no_route", "{path}: {}", missing.text);
    }
    page(&app, "/wp-jsonx").await.expect(404).text.find("<h1>Page not found</h1>").unwrap();
}

#[actix_web::test]
async fn page_search_without_a_permit_gets_503() {
    let app = App::with(&["--list-time-ms=500"]).await;
    app.event(json!({"tags": ["x"], "categories": ["y"]})).await;
    let permits = app.state.costly_lists.clone();
    let all = u32::try_from(permits.available_permits()).unwrap();
    let taken = permits.acquire_many_owned(all).await.unwrap();
    for path in ["/events/?search=event", "/events/?search=event&tag=x", "/events/?search=x&ical=1"]
    {
        let busy = page(&app, path).await.expect(503);
        assert_eq!(busy.header("retry-after"), "5", "{path}");
        assert!(busy.text.contains("takes too long"), "{path}");
    }
    for path in
        ["/events/", "/events/?tag=x&category=y", "/events/month/", "/tag/x/", "/event/event/"]
    {
        // Repeated, because a list may exceed its time limit on a busy machine.
        until(path, async || page(&app, path).await.status == 200).await;
    }
    drop(taken);
}

#[actix_web::test]
async fn pages_count_towards_the_read_rate_limit() {
    let app = App::with(&["--rate-read-rpm=2"]).await;
    for _ in 0..2 {
        page(&app, "/events/month/").await.expect(200);
    }
    let limited = page(&app, "/events/").await.expect(429);
    assert!(
        limited.text.contains("Too many requests") && !limited.header("retry-after").is_empty()
    );
}

#[actix_web::test]
async fn root_redirects_to_the_list() {
    let app = App::new().await;
    assert_eq!(page(&app, "/").await.expect(302).header("location"), "/events/");
    let empty = page(&app, "/events/").await.expect(200);
    assert!(empty.text.contains("Nothing is planned yet"));
    assert!(
        page(&app, "/events/month/2030-01/")
            .await
            .text
            .contains("Nothing is planned for this month.")
    );
}

#[actix_web::test]
async fn month_page_shows_four_events_of_a_day_and_links_to_all() {
    let app = App::new().await;
    for number in 0..7 {
        app.event(json!({"title": format!("Talk {number}")})).await;
    }
    let month = page(&app, "/events/month/2027-04/").await.expect(200);
    assert!(month.text.contains("Talk 3") && !month.text.contains("Talk 4"));
    assert!(month.text.contains("<a href=\"/events/day/2027-04-01/\">3 more<span"));
    let day = page(&app, "/events/?date=2027-04-01").await.expect(200);
    assert!(day.text.contains("Talk 6") && day.text.contains("<h1>Thursday, 1 April 2027</h1>"));
}

#[actix_web::test]
async fn month_and_day_show_an_event_until_the_next_noon() {
    let app = App::new().await;
    let fields = json!({
        "title": "Night", "start_date": "2027-04-30 22:00", "end_date": "2027-05-01 13:00",
    });
    app.event(fields).await;
    let midnight = json!({
        "title": "Until midnight", "start_date": "2027-05-03 22:00", "end_date": "2027-05-04 00:00",
    });
    app.event(midnight).await;
    for (day, title, is_shown) in [
        ("2027-04-30", "Night", true),
        ("2027-05-01", "Night", true),
        ("2027-05-02", "Night", false),
        ("2027-05-03", "Until midnight", true),
        ("2027-05-04", "Until midnight", false),
    ] {
        let list = page(&app, &format!("/events/?date={day}")).await.expect(200).text;
        assert_eq!(list.contains(title), is_shown, "{day}");
        let month = page(&app, &format!("/events/month/{}/", &day[..7])).await.expect(200).text;
        let cell = month.split("<td").find(|cell| cell.contains(&format!("datetime=\"{day}\"")));
        assert_eq!(cell.unwrap().contains(title), is_shown, "{day}: {cell:?}");
    }
}
