//! HTML pages: their content, and what they must not reveal.

use serde_json::{Value, json};

use crate::app::{Answer, App, send};
use crate::images::PNG;

/// Starts a calendar with an event of each kind.
pub async fn with_events() -> App {
    with_events_and(&[]).await
}

/// Starts a calendar with an event of each kind and more settings.
pub async fn with_events_and(settings: &[&str]) -> App {
    let fixed = [
        "--site-name=Town <hall>",
        "--site-timezone=Europe/Vienna",
        "--currency-code=EUR",
        "--currency-symbol=€",
    ];
    let app = App::with(&[&fixed, settings].concat()).await;
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
        "title": "Behind a password", "password": "hush", "description": "cellar words",
        "venue": {"venue": "Velvet Cellar"}, "start_date": "2027-04-02 09:00",
        "end_date": "2027-04-02 10:00", "cost": "Donation", "image": "https://cdn.example/cellar.png",
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

/// Requests a page the way a browser does.
pub async fn page(app: &App, path: &str) -> Answer {
    send(app.server.get(path).header("accept", "text/html")).await
}

/// Renders a page for a snapshot, without the parts that change with every build or run.
pub fn stable(app: &App, page: &Answer) -> String {
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
async fn list_page_matches_its_snapshot() {
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
async fn event_page_matches_its_snapshot() {
    let app = with_events().await;
    let page = page(&app, "/event/brass-embers/").await.expect(200);
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self'"));
    assert!(policy.contains("img-src 'self' data: https://cdn.example;"), "{policy}");
    insta::assert_snapshot!("event_page", stable(&app, &page));
}

#[actix_web::test]
async fn images_have_a_size_or_a_fixed_shape_before_they_arrive() {
    let app = with_events().await;
    let upload = app.request("author", "POST", "/images").header("Content-Type", "image/png");
    let image = send(upload.body(PNG)).await.expect(201).id();
    app.event(json!({"title": "Stored", "image": image})).await;
    let stored = page(&app, "/event/stored/").await.expect(200);
    let attributes = between(&stored, "<figure class=\"picture\"><img", "></figure>");
    assert!(attributes.contains(" width=\"") && attributes.contains(" height=\""), "{attributes}");
    let linked = page(&app, "/event/brass-embers/").await.expect(200);
    let attributes = between(&linked, "<figure class=\"picture\"><img", "></figure>");
    assert!(!attributes.contains("width"), "{attributes}");
    let style = between(&linked, "href=\"/assets/calendar.", "\"");
    let style = send(app.server.get(&format!("/assets/calendar.{style}"))).await.expect(200);
    assert!(style.text.contains(".picture img:not([width][height]) { aspect-ratio:"));
}

#[actix_web::test]
async fn month_page_matches_its_snapshot() {
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
async fn venue_page_matches_its_snapshot() {
    let app = with_events().await;
    let page = page(&app, "/venue/lantern-hall/").await.expect(200);
    insta::assert_snapshot!("venue_page", stable(&app, &page));
}

#[actix_web::test]
async fn tables_of_descriptions_scroll_by_keyboard() {
    let app = App::new().await;
    let table = "<table><tbody><tr><td>wide</td></tr></tbody></table>";
    let focusable = |name: &str| {
        let open = format!("<table tabindex=\"0\" aria-label=\"{name}\">");
        table.replace("<table>", &open)
    };
    let venue = json!({"venue": "Hall", "description": table});
    let id = app.event(json!({"title": "A \"B\"", "description": table, "venue": venue})).await;
    let shown = page(&app, "/event/a-b/").await.expect(200);
    assert!(shown.text.contains(&focusable("A &quot;B&quot;")), "{}", shown.text);
    let shown = page(&app, "/venue/hall/").await.expect(200);
    assert!(shown.text.contains(&focusable("Hall")), "{}", shown.text);
    // The API responds with the unchanged description.
    let event = app.get(&format!("/events/{id}")).await.expect(200).json;
    assert_eq!(
        (&event["description"], &event["venue"]["description"]),
        (&json!(table), &json!(table))
    );
}

/// Returns the text between two markers of a page.
pub fn between<'a>(page: &'a Answer, begin: &str, end: &str) -> &'a str {
    let (_, rest) =
        page.text.split_once(begin).unwrap_or_else(|| panic!("{begin} in {}", page.text));
    rest.split_once(end).unwrap().0
}

fn linked_data(page: &Answer) -> Value {
    serde_json::from_str(between(page, "<script type=\"application/ld+json\">", "</script>"))
        .unwrap()
}

#[actix_web::test]
async fn structured_data_has_the_required_properties() {
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
    assert_eq!(free["location"]["address"], "Barn", "the name replaces an unknown address");
    assert_eq!(linked_data(&page(&app, "/venue/lantern-hall/").await)["@type"], "Place");
    assert_eq!(linked_data(&page(&app, "/organizer/ann-co/").await)["@type"], "Organization");
}

#[actix_web::test]
async fn unpublished_events_and_venues_are_on_no_page() {
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
        for hidden in ["Secret", "Unlisted", "ellar", "Donation", "hush"] {
            assert!(!text.contains(hidden), "{hidden} on {path}: {text}");
        }
    }
    // A search does not reveal the text of a protected event either.
    let found = page(&app, "/events/?search=cellar").await.expect(200);
    assert!(found.text.contains("No matching events"));
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
    // An unlisted event is shown at its URL, and search engines are asked not to index it.
    let unlisted = page(&app, "/event/unlisted-thing/").await.expect(200);
    assert!(unlisted.text.contains("noindex") && !unlisted.text.contains("application/ld+json"));
    assert!(unlisted.text.contains("Add to calendar"));
    let file = page(&app, "/event/unlisted-thing/?ical=1").await.expect(200).text;
    assert!(file.contains("SUMMARY:Unlisted thing\r\n"), "{file}");
    assert_eq!(file.matches("BEGIN:VEVENT").count(), 1);
    let id = app.get("/events/by-slug/unlisted-thing").await.id();
    let feed = app.get(&format!("/ical?include={id}")).await.expect(200).text;
    assert!(!feed.contains("BEGIN:VEVENT"), "{feed}");
}

#[actix_web::test]
async fn password_form_shows_a_protected_event() {
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
    assert!(wrong.text.contains("Wrong password"));
    for page in [&locked, &wrong] {
        assert!(!page.text.contains("ellar") && !page.text.contains("Donation"), "{}", page.text);
    }
    let large = send(sent(&"x".repeat(20_000))).await.expect(413);
    assert!(large.text.contains("<h1>"));
    let open = send(sent("hush")).await.expect(200);
    assert_eq!(open.header("cache-control"), "no-store");
    assert!(open.text.contains("cellar words") && open.text.contains("Velvet Cellar"));
    assert!(!open.text.contains("application/ld+json") && open.text.contains("noindex"));
    // A password in a URL would end up in logs.
    page(&app, &format!("{path}?password=hush")).await.expect(403);
    let feed = page(&app, &format!("{path}?ical=1")).await.expect(200);
    assert!(feed.text.contains("SUMMARY:Behind a password") && !feed.text.contains("ellar"));
}
