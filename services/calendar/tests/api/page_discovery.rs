//! Sitemap, `robots.txt`, the Atom feed, and pages for frames of other sites.

use std::sync::atomic::Ordering;

use calendar::{Calendar, Links, State};
use database::Db;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::json;
use testkit::TestServer;

use crate::app::{Answer, App, NOW, plant, send, settings};
use crate::pages::{page, with_events};
use crate::series::course;

/// Returns the text of all elements with a name.
fn texts(answer: &Answer, name: &str) -> Vec<String> {
    let mut reader = Reader::from_str(&answer.text);
    let (mut found, mut current) = (Vec::new(), None);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(element) if element.name().as_ref() == name.as_bytes() => {
                current = Some(String::new());
            }
            Event::Text(text) => {
                if let Some(current) = &mut current {
                    current.push_str(&text.decode().unwrap());
                }
            }
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().unwrap().unwrap();
                if let Some(current) = &mut current {
                    current.push(character);
                }
            }
            Event::End(element) if element.name().as_ref() == name.as_bytes() => {
                found.extend(current.take());
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

#[actix_web::test]
async fn sitemap_names_public_pages_only() {
    let app = with_events().await;
    let base = app.server.url("");
    let base = base.trim_end_matches('/');
    let robots = page(&app, "/robots.txt").await.expect(200);
    assert!(robots.text.contains("Disallow: /calendar/events/v1/\n"));
    assert!(robots.text.contains(&format!("Sitemap: {base}/sitemap.xml\n")));
    let index = page(&app, "/sitemap.xml").await.expect(200);
    assert_eq!(index.header("content-type"), "application/xml; charset=utf-8");
    let mut found = Vec::new();
    for part in texts(&index, "loc") {
        let path = part.strip_prefix(base).unwrap();
        let listed = page(&app, path).await.expect(200);
        found.extend(texts(&listed, "loc"));
        let tag = listed.header("etag");
        send(app.server.get(path).header("if-none-match", tag)).await.expect(304);
    }
    let mut paths: Vec<&str> = found.iter().map(|url| url.strip_prefix(base).unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "/event/brass-embers/",
            "/event/long-exhibition/",
            "/event/over/",
            "/event/two-days/",
            "/events/",
            "/events/category/culture/concert/",
            "/events/month/",
            "/organizer/ann-co/",
            "/tag/open-air/",
            "/venue/barn/",
            "/venue/lantern-hall/",
            "/venue/velvet-cellar/",
        ]
    );
    for path in paths {
        page(&app, path).await.expect(200);
    }
    for path in
        ["/sitemap/items-2.xml", "/sitemap/items-0.xml", "/sitemap/items-01.xml", "/sitemap/x"]
    {
        page(&app, path).await.expect(404);
    }
    // A removed event leaves the sitemap at once.
    let id = app.get("/events?search=brass").await.ids()[0];
    let tag = page(&app, "/sitemap/items-1.xml").await.header("etag").to_owned();
    app.delete(&format!("/events/{id}")).await.expect(200);
    let after = send(app.server.get("/sitemap/items-1.xml").header("if-none-match", tag)).await;
    assert!(!after.expect(200).text.contains("brass-embers"));
}

#[actix_web::test]
async fn atom_feed_has_the_latest_announcements_first() {
    let app = with_events().await;
    app.clock.advance(60);
    app.event(json!({"title": "New & \u{ffff}<i>loud</i>"})).await;
    let feed = page(&app, "/events/atom.xml").await.expect(200);
    assert_eq!(feed.header("content-type"), "application/atom+xml; charset=utf-8");
    let titles = texts(&feed, "title");
    assert_eq!(titles[..2], ["Town <hall>", "New & loud"]);
    assert!(!feed.text.contains("Secret") && !feed.text.contains("ellar"));
    assert_eq!(texts(&feed, "id").len(), titles.len());
    for date in texts(&feed, "published").iter().chain(&texts(&feed, "updated")) {
        date.parse::<jiff::Timestamp>().unwrap();
    }
    let jazz = page(&app, "/events/atom.xml?category=culture").await.expect(200);
    assert_eq!(texts(&jazz, "title"), ["Town <hall>", "Brass & Embers"]);
    let tag = feed.header("etag");
    send(app.server.get("/events/atom.xml").header("if-none-match", tag)).await.expect(304);
    let list = page(&app, "/events/").await.text;
    assert!(
        list.contains("type=\"application/atom+xml\"")
            && list.contains("href=\"/events/atom.xml\"")
    );
}

#[actix_web::test]
async fn series_is_one_entry_of_the_atom_feed() {
    let app = App::new().await;
    app.event(json!({"title": "Fair"})).await;
    app.clock.advance(60);
    course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 60}})).await;
    let feed = async || {
        let feed = page(&app, "/events/atom.xml").await.expect(200);
        (texts(&feed, "title"), texts(&feed, "id"), texts(&feed, "summary"))
    };
    let (titles, ids, summaries) = feed().await;
    assert_eq!(titles[1..], ["Yoga", "Fair"]);
    assert!(summaries[0].contains("16 March 2027"), "{summaries:?}");
    app.clock.advance(8 * 24 * 3600);
    let (titles, later, summaries) = feed().await;
    assert_eq!(titles[1..], ["Yoga", "Fair"]);
    assert!(summaries[0].contains("23 March 2027"), "{summaries:?}");
    assert_eq!(ids, later);
}

#[actix_web::test]
async fn updated_of_a_series_rises_whenever_its_next_date_changes() {
    let app = App::new().await;
    let id = course(&app, json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 9}})).await;
    let all = app.get("/events?search=yoga&per_page=50").await.ids();
    let mut before: Option<(String, [jiff::Timestamp; 2])> = None;
    for step in 0..6 {
        match step {
            // The first date passes.
            1 => app.clock.advance(8 * 24 * 3600),
            2 => {
                let cancelled = json!({"event_status": "cancelled"});
                drop(app.patch(&format!("/events/{}", all[1]), &cancelled).await.expect(200));
            }
            3 => drop(app.delete(&format!("/events/{}", all[2])).await.expect(200)),
            // The cancelled date takes place after all.
            4 => {
                let scheduled = json!({"event_status": "scheduled"});
                drop(app.patch(&format!("/events/{}", all[1]), &scheduled).await.expect(200));
            }
            5 => drop(app.delete(&format!("/events/{}?force=true", all[1])).await.expect(200)),
            _ => {}
        }
        app.clock.advance(60);
        let feed = page(&app, "/events/atom.xml").await.expect(200);
        let link = feed.text.split("<entry>").nth(1).unwrap().split("href=").nth(1).unwrap();
        let link = link.split('"').nth(1).unwrap().to_owned();
        let [of_feed, updated] = texts(&feed, "updated")
            .try_into()
            .map(|texts: [String; 2]| texts.map(|text| text.parse::<jiff::Timestamp>().unwrap()))
            .unwrap();
        assert!(of_feed >= updated);
        if let Some((known, [feed_before, entry_before])) = &before {
            assert_ne!(known, &link, "{step}");
            assert!(updated > *entry_before && of_feed >= *feed_before, "{step}: {updated}");
        }
        before = Some((link, [of_feed, updated]));
    }
    // An erased date does not turn the time back.
    let (_, [of_feed, updated]) = before.unwrap();
    app.delete(&format!("/events/{}?force=true", all[2])).await.expect(200);
    let texts = texts(&page(&app, "/events/atom.xml").await, "updated");
    assert!(texts[1].parse::<jiff::Timestamp>().unwrap() >= updated);
    assert!(texts[0].parse::<jiff::Timestamp>().unwrap() >= of_feed);
    app.get(&format!("/events/{id}")).await.expect(200);
}

#[actix_web::test]
async fn entries_of_the_atom_feed_keep_their_ids() {
    let app = App::with(&["--site-locales=de"]).await;
    let fair = app.event(json!({"title": "Fair"})).await;
    let yoga = course(&app, json!({})).await;
    let ids = async |query: &str| {
        let feed = page(&app, &format!("/events/atom.xml{query}")).await.expect(200);
        let mut ids = texts(&feed, "id").split_off(1);
        ids.sort_unstable();
        ids
    };
    let before = ids("").await;
    assert_eq!(before.len(), 2);
    for id in &before {
        let parts: Vec<usize> =
            id.strip_prefix("urn:uuid:").unwrap().split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
        assert_eq!(id.chars().nth("urn:uuid:".len() + 14), Some('8'), "{id}");
    }
    app.patch(&format!("/events/{fair}"), &json!({"slug": "market"})).await.expect(200);
    let moved =
        json!({"start_date": "2027-03-16 17:00", "end_date": "2027-03-16 18:00", "scope": "all"});
    app.patch(&format!("/events/{yoga}"), &moved).await.expect(200);
    assert_eq!(ids("").await, before);
    // Parts of a split series are one entry, whatever their names, and an event that becomes a series
    // stays the same one.
    let second = app.get("/events?search=yoga&start_date=2027-03-23").await.ids()[0];
    let split = json!({"title": "Pilates", "slug": "pilates", "scope": "following"});
    app.patch(&format!("/events/{second}"), &split).await.expect(200);
    let repeated = json!({"recurrence": {"rrule": "FREQ=WEEKLY", "count": 3}});
    app.patch(&format!("/events/{fair}"), &repeated).await.expect(200);
    assert_eq!(ids("").await, before);
    assert_eq!(ids("?lang=de").await, before);
    // Events of another calendar have other ids.
    let other = App::new().await;
    other.event(json!({"title": "Fair"})).await;
    let feed = page(&other, "/events/atom.xml").await.expect(200);
    assert!(!before.contains(&texts(&feed, "id")[1]));
}

#[actix_web::test]
async fn event_that_left_its_series_is_another_entry_of_the_atom_feed() {
    let app = App::new().await;
    let first = course(&app, json!({})).await;
    let ids = async || {
        let feed = page(&app, "/events/atom.xml").await.expect(200);
        let mut all: Vec<(String, String)> =
            texts(&feed, "title").into_iter().zip(texts(&feed, "id")).skip(1).collect();
        all.sort_unstable();
        all
    };
    let before = ids().await;
    assert_eq!(before.len(), 1);
    let second = app.get("/events?search=yoga&start_date=2027-03-23").await.ids()[0];
    let split = json!({"title": "Pilates", "scope": "following"});
    app.patch(&format!("/events/{second}"), &split).await.expect(200);
    app.delete(&format!("/events/{first}?scope=all")).await.expect(200);
    app.patch(&format!("/events/{first}"), &json!({"status": "publish"})).await.expect(200);
    let after = ids().await;
    let titles: Vec<&str> = after.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(titles, ["Pilates", "Yoga"]);
    // The series keeps its id.
    assert_eq!(after[0].1, before[0].1);
    assert_ne!(after[1].1, before[0].1);
}

#[actix_web::test]
async fn tag_of_the_atom_feed_changes_when_the_next_date_of_a_series_does() {
    let app = App::new().await;
    course(&app, json!({})).await;
    // The first date ends at 19:30 in Vienna.
    let end: jiff::Timestamp = "2027-03-16T18:30:00Z".parse().unwrap();
    let now: jiff::Timestamp = NOW.parse().unwrap();
    app.clock.advance(end.as_second() - now.as_second() - 60);
    let before = page(&app, "/events/atom.xml").await.expect(200);
    assert!(texts(&before, "summary")[0].contains("16 March 2027"), "{}", before.text);
    app.clock.advance(120);
    let tag = before.header("etag");
    let known = app.server.get("/events/atom.xml").header("if-none-match", tag);
    let after = send(known).await.expect(200);
    assert!(texts(&after, "summary")[0].contains("23 March 2027"), "{}", after.text);
}

#[actix_web::test]
async fn only_configured_sites_may_embed() {
    for (origins, ancestors) in [
        ("", "'none'"),
        ("https://town.example https://*.b.example", "https://town.example https://*.b.example"),
    ] {
        let app = App::with(&["--embed-origins", origins]).await;
        app.event(json!({"title": "Fair"})).await;
        for path in ["/embed/list", "/embed/month?theme=dark"] {
            let shown = page(&app, path).await.expect(200);
            let policy = shown.header("content-security-policy");
            assert!(policy.ends_with(&format!("frame-ancestors {ancestors}")), "{policy}");
            assert!(shown.text.contains("noindex"));
        }
        let policy = page(&app, "/events/").await;
        assert!(policy.header("content-security-policy").ends_with("frame-ancestors 'none'"));
    }
}

#[actix_web::test]
async fn error_of_an_embedded_page_is_shown_in_the_frame() {
    let app = App::with(&["--embed-origins", "https://town.example"]).await;
    for (path, text) in [
        ("/embed/list?category=nope", "This category does not exist."),
        ("/embed/list?count=51", "must be 1 to 50"),
        ("/embed/list?theme=red", "must be auto, light or dark"),
        ("/embed/month?month=2027-13", "must be a month such as 2027-03"),
    ] {
        let shown = page(&app, path).await.expect(400);
        let policy = shown.header("content-security-policy");
        assert!(policy.ends_with("frame-ancestors https://town.example"), "{path}: {policy}");
        assert!(shown.text.contains(text) && shown.text.contains("noindex"), "{}", shown.text);
        assert!(!shown.text.contains("<nav"), "{}", shown.text);
    }
    for (path, status) in [("/events/?category=nope", 400), ("/embed/nope", 404)] {
        let policy = page(&app, path).await.expect(status);
        let policy = policy.header("content-security-policy");
        assert!(!policy.contains("town.example"), "{path}: {policy}");
    }
}

#[actix_web::test]
async fn embedded_list_follows_its_parameters() {
    let app = with_events().await;
    let count = |page: &Answer| page.text.matches("<p class=\"date\">").count();
    for (query, events) in
        [("", 4), ("?count=2", 2), ("?category=culture", 1), ("?tag=open-air", 1)]
    {
        let shown = page(&app, &format!("/embed/list{query}")).await.expect(200);
        assert_eq!(count(&shown), events, "{query}");
        assert!(!shown.text.contains("Secret") && !shown.text.contains("<header"));
    }
    for (theme, class) in [("", "auto"), ("light", "light"), ("dark", "dark")] {
        let shown = page(&app, &format!("/embed/list?theme={theme}")).await.expect(200);
        assert!(shown.text.contains(&format!("class=\"{class}\"")), "{theme}");
    }
    for path in [
        "/embed/list?count=51",
        "/embed/list?theme=red",
        "/embed/list?date=2027-03-14",
        "/embed/month?month=2027-13",
        "/embed/month?category=culture",
    ] {
        page(&app, path).await.expect(400);
    }
    let month = page(&app, "/embed/month?theme=light&month=2027-04").await.expect(200);
    assert!(month.text.contains("April 2027") && month.text.contains("month=2027-03"));
    let script = page(&app, "/embed.js").await.expect(200);
    assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
    assert!(script.text.len() < 3000);
    let own = "const own = isMonth ? [\"month\"] : [\"category\", \"tag\", \"search\", \"count\"];";
    assert!(script.text.contains(own), "{}", script.text);
}

#[actix_web::test]
async fn sitemap_skips_gaps_between_ids() {
    let app = App::new().await;
    app.event(json!({"title": "Near"})).await;
    app.make("/categories", json!({"name": "Far"})).await;
    // An id of another site is kept.
    let far = 1_i64 << 31;
    app.execute(&format!("insert into entities (id, kind) values ({far}, 1), ({}, 4)", 2 * far));
    app.execute(&format!("update terms set id = {far}, count = 1"));
    let times = (1_806_000_000, 1_806_003_600);
    let author = app.user("editor");
    let insert = |db: &mut Db| plant(db, author, times, &Links::default(), |event| event.id = far);
    app.state.pools.write_blocking(insert).unwrap();

    // Only the searches for the next id count: the server's scheduled work runs too.
    let of_ids = |text: &str| text.contains("count > 0 and id >") || text.contains("and e.id >");
    let (pools, statements) = app.counted(of_ids).await;
    let media = app.state.media.clone();
    let state = State::new(pools, app.clock.shared(), settings(&[]), media);
    let server = TestServer::start(Calendar { state }).await;
    let index = send(server.get("/sitemap.xml")).await.expect(200);
    let parts: Vec<String> =
        texts(&index, "loc").iter().map(|url| url.replace(&server.url("/sitemap/"), "")).collect();
    assert_eq!(parts, ["lists.xml", "items-1.xml", "items-214749.xml", "terms-214749.xml"]);
    let statements = statements.load(Ordering::Relaxed);
    assert!((5..10).contains(&statements), "{statements} statements");
    let part = send(server.get("/sitemap/items-214749.xml")).await.expect(200);
    assert!(texts(&part, "loc")[0].contains("/event/planted-"), "{}", part.text);
}
