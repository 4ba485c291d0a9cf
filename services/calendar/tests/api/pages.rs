//! Pages for people, and the calendars beside them.

use reqwest::redirect::Policy;
use serde_json::{Value, json};

use crate::app::{Answer, App, send};

async fn with_events() -> App {
    let app = App::with(&[
        "--site-name=Town <hall>",
        "--site-timezone=Europe/Vienna",
        "--currency-code=EUR",
        "--currency-symbol=€",
    ])
    .await;
    app.make("/categories", json!({"name": "Culture"})).await;
    app.make(
        "/categories",
        json!({"name": "Concert", "parent": 1, "description": "With *sound*."}),
    )
    .await;
    let venue = json!({
        "venue": "Lantern Hall", "address": "12 Quay Street", "city": "Port Marrow", "zip": "48101",
        "country": "Austria", "geo_lat": 48.2, "geo_lng": 16.37, "phone": "+43 1 555 01-00",
        "description": "An <i>old</i> hall.", "website": "https://lantern.example/",
    });
    let organizer = json!({"organizer": "Ann & Co", "email": "ann@example.org", "website": "https://ann.example/"});
    app.event(json!({
        "title": "Brass & <b>Embers</b>", "timezone": "Europe/Vienna", "cost": "15-25", "featured": true,
        "start_date": "2027-03-14 19:30", "end_date": "2027-03-14 22:00", "venue": venue,
        "organizer": organizer, "categories": ["concert"], "tags": ["Open air"],
        "description": "An evening.\n\n<a href=\"https://a.example/\">More</a><script>alert(1)</script>",
        "image": "https://cdn.example/night.png", "website": "https://brass.example/",
    }))
    .await;
    app.event(json!({
        "title": "Long exhibition", "all_day": true, "timezone": "Europe/Vienna", "cost": "Free",
        "start_date": "2027-02-20", "end_date": "2027-03-20", "venue": {"venue": "Barn"},
    }))
    .await;
    app.event(json!({
        "title": "Two days", "all_day": true, "timezone": "Europe/Vienna",
        "start_date": "2027-03-14", "end_date": "2027-03-15",
    }))
    .await;
    app.event(json!({
        "title": "Behind a password", "password": "hush", "description": "hidden words",
        "venue": {"venue": "Hidden cellar"}, "start_date": "2027-04-02 09:00",
        "end_date": "2027-04-02 10:00", "cost": "77", "image": "https://cdn.example/hidden.png",
    }))
    .await;
    app.event(json!({"title": "Unlisted thing", "hide_from_listings": true})).await;
    for status in ["draft", "pending", "private", "future"] {
        let date = if status == "future" { "2027-05-01 00:00:00" } else { "2027-01-01 00:00:00" };
        app.event(json!({"title": format!("Secret {status}"), "status": status, "date": date}))
            .await;
    }
    app.event(json!({
        "title": "Over", "start_date": "2027-03-10 08:00", "end_date": "2027-03-10 09:00",
    }))
    .await;
    app
}

async fn page(app: &App, path: &str) -> Answer {
    send(app.server.get(path).header("accept", "text/html")).await
}

/// The page as it stands in snapshots: without what changes with every build and every run.
fn stable(app: &App, page: &Answer) -> String {
    let base = app.server.url("");
    let host = base.trim_end_matches('/').trim_start_matches("http://");
    let mut text = String::new();
    for line in page.text.replace(host, "HOST").lines().filter(|line| !line.trim().is_empty()) {
        let digest = |line: &str| -> String {
            let parts: Vec<&str> = line.split('.').collect();
            let is_digest =
                |part: &&str| part.len() == 16 && part.bytes().all(|b| b.is_ascii_hexdigit());
            parts
                .into_iter()
                .map(|part| if is_digest(&part) { "DIGEST" } else { part })
                .collect::<Vec<_>>()
                .join(".")
        };
        let line = if line.contains("/assets/") { digest(line) } else { line.to_owned() };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[actix_web::test]
async fn list_page_is_whole() {
    let app = with_events().await;
    let page = page(&app, "/events/").await.expect(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.header("cache-control"), "public, no-cache");
    assert_eq!(page.header("x-tec-api-version"), "v1");
    assert_eq!(page.header("x-tec-api-origin"), app.server.url("").trim_end_matches('/'));
    assert_eq!(page.header("x-tec-api-root"), app.server.url("/calendar/events/v1/"));
    insta::assert_snapshot!("list_page", stable(&app, &page));
}

#[actix_web::test]
async fn event_page_is_whole() {
    let app = with_events().await;
    let page = page(&app, "/event/brass-embers/").await.expect(200);
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self'"));
    assert!(policy.contains("img-src 'self' data: https://cdn.example;"), "{policy}");
    insta::assert_snapshot!("event_page", stable(&app, &page));
}

#[actix_web::test]
async fn month_page_is_whole() {
    let app = with_events().await;
    let page = page(&app, "/events/month/2027-03/").await.expect(200);
    insta::assert_snapshot!("month_page", stable(&app, &page));
    let this = send(app.server.get("/events/month")).await.expect(200);
    assert!(
        this.text.contains("<h1>March 2027</h1>") && this.text.contains("aria-current=\"date\"")
    );
    let next = send(app.server.get("/events/month/2027-04")).await.expect(200);
    assert!(next.text.contains("Behind a password") && !next.text.contains("Unlisted"));
}

#[actix_web::test]
async fn venue_page_is_whole() {
    let app = with_events().await;
    let page = page(&app, "/venue/lantern-hall/").await.expect(200);
    insta::assert_snapshot!("venue_page", stable(&app, &page));
}

/// What stands between two marks of a page.
fn between<'a>(page: &'a Answer, begin: &str, end: &str) -> &'a str {
    let (_, rest) =
        page.text.split_once(begin).unwrap_or_else(|| panic!("{begin} in {}", page.text));
    rest.split_once(end).unwrap().0
}

fn linked_data(page: &Answer) -> Value {
    serde_json::from_str(between(page, "<script type=\"application/ld+json\">", "</script>"))
        .unwrap()
}

#[actix_web::test]
async fn linked_data_is_what_checkers_want() {
    let app = with_events().await;
    let base = app.server.url("");
    let base = base.trim_end_matches('/');
    let event = linked_data(&page(&app, "/event/brass-embers/").await);
    assert_eq!(
        event,
        json!({
            "@context": "https://schema.org", "@type": "Event",
            "@id": format!("{base}/event/brass-embers/#event"), "url": format!("{base}/event/brass-embers/"),
            "name": "Brass & Embers", "description": "An evening. Morealert(1)",
            "image": "https://cdn.example/night.png",
            "startDate": "2027-03-14T19:30:00+01:00", "endDate": "2027-03-14T22:00:00+01:00",
            "eventStatus": "https://schema.org/EventScheduled",
            "eventAttendanceMode": "https://schema.org/OfflineEventAttendanceMode",
            "isAccessibleForFree": false,
            "location": {
                "@type": "Place", "@id": format!("{base}/venue/lantern-hall/#venue"), "name": "Lantern Hall",
                "description": "An old hall.", "url": format!("{base}/venue/lantern-hall/"),
                "telephone": "+43 1 555 01-00", "sameAs": "https://lantern.example/",
                "address": {
                    "@type": "PostalAddress", "streetAddress": "12 Quay Street",
                    "addressLocality": "Port Marrow", "postalCode": "48101", "addressCountry": "Austria",
                },
                "geo": {"@type": "GeoCoordinates", "latitude": 48.2, "longitude": 16.37},
            },
            "organizer": {
                "@type": "Organization", "@id": format!("{base}/organizer/ann-co/#organizer"), "name": "Ann & Co",
                "url": format!("{base}/organizer/ann-co/"), "email": "ann@example.org", "sameAs": "https://ann.example/",
            },
            "offers": {
                "@type": "AggregateOffer", "lowPrice": "15", "highPrice": "25", "priceCurrency": "EUR",
                "url": format!("{base}/event/brass-embers/"), "availability": "https://schema.org/InStock",
                "validFrom": "2027-03-10T13:00:00",
            },
        })
    );
    let free = linked_data(&page(&app, "/event/long-exhibition/").await);
    assert_eq!(
        (&free["startDate"], &free["endDate"]),
        (&json!("2027-02-20"), &json!("2027-03-20"))
    );
    assert_eq!(
        (&free["isAccessibleForFree"], &free["offers"]["price"]),
        (&json!(true), &json!("0"))
    );
    assert_eq!(
        free["location"]["address"], "Barn",
        "a name stands for an address that is not known"
    );
    assert_eq!(linked_data(&page(&app, "/venue/lantern-hall/").await)["@type"], "Place");
    assert_eq!(linked_data(&page(&app, "/organizer/ann-co/").await)["@type"], "Organization");
}

#[actix_web::test]
async fn what_is_not_published_is_on_no_page() {
    let app = with_events().await;
    for path in [
        "/events/",
        "/events/?date=2027-04-01",
        "/events/?search=secret",
        "/events/month/2027-04/",
        "/events/?ical=1",
        "/events/month/2027-04/?ical=1",
    ] {
        let text = page(&app, path).await.expect(200).text;
        // The search itself stands in its field.
        let text = text.replace("value=\"secret\"", "");
        for hidden in ["Secret", "Unlisted", "hidden", "Hidden", "77", "hush"] {
            assert!(!text.contains(hidden), "{hidden} on {path}: {text}");
        }
    }
    for slug in ["secret-draft", "secret-pending", "secret-private", "secret-future", "none"] {
        let missing = page(&app, &format!("/event/{slug}/")).await.expect(404);
        assert!(missing.text.contains("Page not found") && !missing.text.contains("Secret"));
        page(&app, &format!("/event/{slug}/?ical=1")).await.expect(404);
    }
    let id = app.get("/events?search=brass").await.ids()[0];
    app.delete(&format!("/events/{id}")).await.expect(200);
    for slug in ["brass-embers", "brass-embers__trashed"] {
        page(&app, &format!("/event/{slug}/")).await.expect(404);
    }
    let venue = app.get("/venues?search=lantern").await.ids()[0];
    app.patch(&format!("/venues/{venue}"), &json!({"status": "draft"})).await.expect(200);
    page(&app, "/venue/lantern-hall/").await.expect(404);
    page(&app, "/venue/lantern-hall/?ical=1").await.expect(404);
    // An address is enough for what lists leave out; search engines are asked to do without.
    let unlisted = page(&app, "/event/unlisted-thing/").await.expect(200);
    assert!(unlisted.text.contains("noindex") && !unlisted.text.contains("application/ld+json"));
    assert!(!unlisted.text.contains("Add to calendar"));
    page(&app, "/event/unlisted-thing/?ical=1").await.expect(404);
}

#[actix_web::test]
async fn password_opens_an_event_by_its_form() {
    let app = with_events().await;
    let path = "/event/behind-a-password/";
    let locked = page(&app, path).await.expect(403);
    assert_eq!(locked.header("cache-control"), "no-store");
    assert!(
        locked.text.contains("Friday, 2 April 2027") && locked.text.contains("type=\"password\"")
    );
    let sent = |word: &str| {
        let form = ("content-type", "application/x-www-form-urlencoded");
        app.server.post(path).header(form.0, form.1).body(format!("password={word}"))
    };
    let wrong = send(sent("x")).await.expect(403);
    assert!(wrong.text.contains("not the password"));
    for page in [&locked, &wrong] {
        assert!(!page.text.contains("idden") && !page.text.contains("77"), "{}", page.text);
    }
    let large = send(sent(&"x".repeat(20_000))).await.expect(413);
    assert!(large.text.contains("<h1>"));
    let open = send(sent("hush")).await.expect(200);
    assert_eq!(open.header("cache-control"), "no-store");
    assert!(open.text.contains("hidden words") && open.text.contains("Hidden cellar"));
    assert!(!open.text.contains("application/ld+json") && open.text.contains("noindex"));
    // A password in an address would stand in logs.
    page(&app, &format!("{path}?password=hush")).await.expect(403);
    let feed = page(&app, &format!("{path}?ical=1")).await.expect(200);
    assert!(feed.text.contains("SUMMARY:Behind a password") && !feed.text.contains("idden"));
}

#[actix_web::test]
async fn pages_have_their_calendars() {
    let app = with_events().await;
    for (path, expected) in [
        ("/events/", "Long exhibition, Two days, Brass & Embers, Behind a password"),
        ("/events/?search=evening", "Brass & Embers"),
        ("/events/?category=culture", "Brass & Embers"),
        ("/events/?date=2027-03-15", "Long exhibition, Two days"),
        ("/events/month/", "Long exhibition, Two days, Brass & Embers, Behind a password"),
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
async fn lists_are_narrowed_and_have_pages() {
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
async fn known_pages_are_304_until_something_changes() {
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
async fn what_is_over_leaves_the_list_and_stays_in_its_month() {
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
async fn wrong_addresses_are_answered_in_the_frame() {
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
        ("?category=none", "There is no such category."),
        ("?tag=none", "There is no such tag."),
        ("?search=-", "The search must"),
        ("?search=%FF", "The search must"),
    ] {
        let wrong = page(&app, &format!("/events/{query}")).await;
        if query == "?search=-" && wrong.status == 200 {
            continue;
        }
        assert!(wrong.expect(400).text.contains(said), "{query}");
    }
    // Programs go on reading JSON.
    assert_eq!(send(app.server.get("/nowhere")).await.expect(404).code(), "rest_no_route");
    assert_eq!(page(&app, "/calendar/events/v1/nowhere").await.expect(404).code(), "rest_no_route");
    let key =
        send(app.server.get("/events/").header("x-api-key", "0".repeat(32))).await.expect(401);
    assert!(key.text.contains("<h1>"));
}

#[actix_web::test]
async fn searches_on_pages_take_their_turn() {
    let app = App::with(&["--list-time-ms=20"]).await;
    app.event(json!({"tags": ["x"], "categories": ["y"]})).await;
    let turns = app.state.costly_lists.clone();
    let all = u32::try_from(turns.available_permits()).unwrap();
    let taken = turns.acquire_many_owned(all).await.unwrap();
    for path in ["/events/?search=event", "/events/?tag=x&category=y", "/events/?search=x&ical=1"] {
        let busy = page(&app, path).await.expect(503);
        assert_eq!(busy.header("retry-after"), "5", "{path}");
        assert!(busy.text.contains("takes too long"), "{path}");
    }
    for path in ["/events/", "/events/?tag=x", "/events/month/", "/tag/x/", "/event/event/"] {
        page(&app, path).await.expect(200);
    }
    drop(taken);
}

#[actix_web::test]
async fn pages_count_against_the_limit_of_reads() {
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
async fn the_root_leads_to_the_list() {
    let app = App::new().await;
    let client = reqwest::Client::builder().redirect(Policy::none()).build().unwrap();
    let answer = client.get(app.server.url("/")).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["location"]),
        (302, &"/events/".parse().unwrap())
    );
    let empty = page(&app, "/").await.expect(200);
    assert!(empty.text.contains("Nothing is planned yet"));
    assert!(
        page(&app, "/events/month/2030-01/")
            .await
            .text
            .contains("Nothing is planned in this month.")
    );
}

#[actix_web::test]
async fn busy_days_show_a_few_events_and_lead_to_all() {
    let app = App::new().await;
    for number in 0..7 {
        app.event(json!({"title": format!("Talk {number}")})).await;
    }
    let month = page(&app, "/events/month/2027-04/").await.expect(200);
    assert!(month.text.contains("Talk 3") && !month.text.contains("Talk 4"));
    assert!(month.text.contains("<a href=\"/events/?date=2027-04-01\">3 more<span"));
    let day = page(&app, "/events/?date=2027-04-01").await.expect(200);
    assert!(day.text.contains("Talk 6") && day.text.contains("<h1>Thursday, 1 April 2027</h1>"));
}
