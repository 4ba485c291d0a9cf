//! Lists of events: every filter, order, paging and links.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::app::{Answer, App, send};

fn titles(answer: &Answer) -> String {
    let events = answer.json["events"].as_array().unwrap_or_else(|| panic!("{}", answer.text));
    let titles: Vec<&str> = events.iter().filter_map(|event| event["title"].as_str()).collect();
    titles.join(" ")
}

/// Ids of the resources that the filters refer to.
struct Season {
    hall: i64,
    barn: i64,
    ann: i64,
    music: i64,
    parent: i64,
}

async fn season(app: &App) -> Season {
    let hall =
        app.make("/venues", json!({"venue": "Hall", "geo_lat": 48.2082, "geo_lng": 16.3738})).await;
    let barn = app.make("/venues", json!({"venue": "Barn"})).await;
    let graz =
        app.make("/venues", json!({"venue": "Dom", "geo_lat": 47.0707, "geo_lng": 15.4395})).await;
    let ann = app.make("/organizers", json!({"organizer": "Ann"})).await;
    let music = app.make("/categories", json!({"name": "Music"})).await;
    let jazz = app.make("/categories", json!({"name": "Jazz", "parent": music})).await;
    let day = |n: i64| json!(format!("2027-04-{n:02} 10:00"));
    let make = async |title: &str, n: i64, fields: Value| {
        let mut body = json!({"title": title, "start_date": day(n), "end_date": day(n)});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        app.event(body).await
    };
    make("a", 1, json!({"venue": hall, "categories": [jazz], "tags": ["live"], "featured": true, "description": "Late Night Ärzte session"})).await;
    make("b", 2, json!({"venue": [hall, barn], "categories": [music], "organizer": ann})).await;
    make("c", 3, json!({"venue": graz, "categories": ["Art"], "tags": ["live", "open air"], "excerpt": "night Late 50% off"})).await;
    // A number that is not a slug would be read as an id, and unknown ids are ignored.
    app.make("/tags", json!({"name": "2027"})).await;
    make("d", 4, json!({"tags": ["2027"], "sticky": true})).await;
    make("hidden", 5, json!({"hide_from_listings": true, "tags": ["live"]})).await;
    make("draft", 6, json!({"status": "draft", "tags": ["live"]})).await;
    let parent = make("old", 7, json!({"date": "2026-01-01"})).await;
    let set = format!("update events set parent_id = {parent} where slug in ('b', 'c')");
    let link = |db: &mut database::Db| calendar::Sql::new(db, &set).execute(db);
    app.state.pools.write_blocking(link).unwrap();
    Season { hall, barn, ann, music, parent }
}

#[actix_web::test]
async fn every_filter_selects_its_events_on_all_pages() {
    let app = App::new().await;
    let Season { hall, barn, ann, music, parent } = season(&app).await;
    let cases: Vec<(String, &str)> = vec![
        (String::new(), "a b c d old"),
        ("search=late+night".into(), "a c"),
        ("search=%22late+night%22".into(), "a"),
        ("search=night+-session".into(), "c"),
        ("search=NIGHT+%C3%84RZTE".into(), "a"),
        ("search=50%25".into(), "c"),
        ("search=5".into(), "c"),
        ("search=_".into(), ""),
        ("search=hall".into(), ""),
        ("categories=jazz".into(), "a"),
        ("categories=music".into(), "a b"),
        (format!("categories={music}"), "a b"),
        ("categories=Music,art".into(), "a b c"),
        ("categories[]=art&categories[]=jazz".into(), "a c"),
        ("tags=live".into(), "a c"),
        ("tags=Open+Air".into(), "c"),
        ("tags=2027".into(), "d"),
        ("tags=live&categories=music".into(), "a"),
        (format!("venue={hall}"), "a b"),
        (format!("venue={hall},{barn}"), "a b"),
        (format!("organizer={ann}"), "b"),
        (format!("organizer={ann}&venue={hall}&search=b"), "b"),
        ("featured=true".into(), "a"),
        ("featured=0".into(), "b c d old"),
        (format!("post_parent={parent}"), "b c"),
        ("geoloc=true".into(), "a b c"),
        ("geoloc_lat=48.2&geoloc_lng=16.4".into(), "a b"),
        ("geoloc_lat=48.2&geoloc_lng=16.4&geoloc_radius=200&geoloc_unit=km".into(), "a b c"),
        ("geoloc=false".into(), "a b c d old"),
        ("ticketed=true".into(), ""),
        ("ticketed=false".into(), "a b c d old"),
        ("status=publish".into(), "a b c d old"),
        ("orderby=title&order=desc".into(), "old d c b a"),
        ("orderby=date".into(), "old a b c d"),
        ("orderby=id&order=DESC".into(), "old d c b a"),
        ("starts_after=2027-04-02&orderby=start_date".into(), "c d old"),
        ("overlaps=true&start_date=2027-04-02&end_date=2027-04-03".into(), "b c"),
        ("strict_dates=1&start_date=2027-04-02+10:00".into(), "b c d old"),
        ("strict_dates=1&start_date=2027-04-02+10:00:01".into(), "c d old"),
        ("strict_dates=true&end_date=2027-04-03+09:59".into(), "a b"),
        ("starts_before=2027-04-03".into(), "a b c"),
        ("starts_before=%2B24+days".into(), "a b c"),
        ("strict_dates=yes&starts_before=2027-04-03+10:00".into(), "a b"),
        ("ends_before=2027-04-02".into(), "a b"),
        ("strict_dates=on&ends_before=2027-04-03+10:00".into(), "a b"),
        ("ends_after=2027-04-02".into(), "c d old"),
        ("strict_dates=1&ends_after=2027-04-02T12:00:00%2B02:00".into(), "c d old"),
        ("ends_after=2027-04-01&ends_before=2027-04-04&starts_before=2027-04-03".into(), "b c"),
    ];
    for (query, expected) in cases {
        let answer = app.get(&format!("/events?{query}")).await.expect(200);
        assert_eq!(titles(&answer), expected, "{query}");
        assert_eq!(answer.json["total"], expected.split_whitespace().count(), "{query}");
        visit_all(&app, "", &format!("/events?per_page=1&{query}")).await;
    }
}

/// Follows the page links. Asserts that each id appears exactly once and that their number equals
/// the total.
async fn visit_all(app: &App, who: &str, first: &str) {
    let start = app.get_as(who, first).await.expect(200);
    let total = start.json["total"].as_u64().unwrap();
    let mut seen: HashSet<i64> = start.ids().into_iter().collect();
    let mut answer = start;
    let mut pages = 1;
    while let Some(next) = answer.json["next_rest_url"].as_str().map(str::to_owned) {
        assert!(answer.header("link").contains(&next), "{}", answer.header("link"));
        let request = app.server.client().get(&next);
        let request =
            if who.is_empty() { request } else { request.header("X-API-Key", app.key(who)) };
        answer = send(request).await.expect(200);
        for id in answer.ids() {
            assert!(seen.insert(id), "{first}: {id} is listed twice");
        }
        pages += 1;
        assert!(pages < 100, "{first} has no end");
    }
    assert_eq!(seen.len() as u64, total, "{first}");
    if total > 0 {
        assert_eq!(answer.json["total_pages"], pages, "{first}");
    }
}

#[actix_web::test]
async fn other_lists_page_through_every_item_once() {
    let app = App::new().await;
    let Season { barn, .. } = season(&app).await;
    app.make("/venues", json!({"venue": "Empty"})).await;
    for name in ["Bea", "Cay"] {
        let organizer = json!({"title": name, "organizer": {"organizer": name}});
        app.event(organizer).await;
    }
    let event = app.get(&format!("/events?venue={barn}")).await.ids()[0];
    for (path, total) in [
        ("/events?status=any".to_owned(), 8),
        ("/events?include=1,2,3,4,5,6,7,8,9,10".to_owned(), 5),
        (format!("/venues?event={event}"), 2),
        ("/venues?only_with_upcoming=true".to_owned(), 3),
        ("/venues?only_with_upcoming=false".to_owned(), 4),
        ("/venues?has_events=true".to_owned(), 3),
        ("/venues?status=publish".to_owned(), 4),
        ("/organizers?search=a".to_owned(), 3),
        ("/organizers?only_with_upcoming=1&has_events=yes".to_owned(), 3),
        ("/categories?hide_empty=false".to_owned(), 3),
        ("/tags?order=desc&orderby=count".to_owned(), 3),
    ] {
        let path = format!("{path}&per_page=1");
        let first = app.get_as("administrator", &path).await.expect(200);
        assert_eq!(first.json["total"], total, "{path}");
        visit_all(&app, "administrator", &path).await;
    }
}

#[actix_web::test]
async fn include_ignores_dates_and_sorts_by_publication() {
    let app = App::new().await;
    let late = app.event(json!({"title": "late", "date": "2027-02-02"})).await;
    let early = app.event(json!({"title": "early", "date": "2027-02-01", "start_date": "1999-01-01", "end_date": "1999-01-02"})).await;
    let hidden = app.event(json!({"title": "hidden", "hide_from_listings": true})).await;
    let draft = app.event(json!({"title": "draft", "status": "draft"})).await;
    let path =
        format!("/events?include={late},{early},{hidden},{draft},99999&start_date=2050-01-01");
    let answer = app.get(&path).await.expect(200);
    assert_eq!(titles(&answer), "early late");
    assert_eq!(app.get_as("editor", &path).await.json["total"], 3);
}

#[actix_web::test]
async fn visible_statuses_depend_on_the_role() {
    let app = App::new().await;
    for (who, title, status) in [
        ("author", "mine", "draft"),
        ("author2", "theirs", "draft"),
        ("author", "open", "publish"),
        ("author", "secret", "private"),
        ("author2", "idea", "Idea"),
    ] {
        app.event_as(who, json!({"title": title, "status": status})).await;
    }
    let bin = app.event_as("author", json!({"title": "bin"})).await;
    app.delete(&format!("/events/{bin}")).await.expect(200);
    for (who, query, expected) in [
        ("", "", "open"),
        ("reader", "", "open"),
        ("author", "", "mine open secret"),
        ("author2", "", "theirs open idea"),
        ("contributor", "", "open"),
        ("editor", "", "mine theirs open secret idea"),
        ("editor", "status=any", "mine theirs open secret idea"),
        ("author", "status=any", "mine open secret"),
        ("author", "status=draft", "mine"),
        ("author", "status=draft,publish", "mine open"),
        ("author", "status=trash", ""),
        ("author2", "status=Idea", "idea"),
        ("editor", "status=draft", "mine theirs"),
        ("editor", "status=Idea", "idea"),
        ("editor", "status=trash", "bin"),
        ("editor", "status=trash,publish", "open bin"),
        ("author", "search=e", "mine open secret"),
        ("author", "orderby=title", "mine open secret"),
    ] {
        let answer = app.get_as(who, &format!("/events?{query}")).await.expect(200);
        assert_eq!(titles(&answer), expected, "{who} {query}");
        assert_eq!(answer.json["total"], expected.split_whitespace().count(), "{who} {query}");
    }
    for (who, query) in [
        ("", "status=draft"),
        ("reader", "status=any"),
        ("", "status=publish,draft"),
        ("editor", "status="),
        ("editor", "status=123456789012345678901"),
    ] {
        let answer = app.get_as(who, &format!("/events?{query}")).await.expect(400);
        assert!(answer.json["data"]["params"]["status"].is_string(), "{who} {query}");
    }
}

#[actix_web::test]
async fn invalid_values_get_400_with_the_parameter_name() {
    let app = App::new().await;
    for (query, name) in [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=abc", "page"),
        ("page=1.5", "page"),
        ("page=", "page"),
        ("per_page=0", "per_page"),
        ("per_page=x", "per_page"),
        ("start_date=", "start_date"),
        ("start_date=nonsense", "start_date"),
        ("end_date=2027-13-01", "end_date"),
        ("starts_before=x", "starts_before"),
        ("starts_after=", "starts_after"),
        ("ends_before=x", "ends_before"),
        ("ends_after=25:00", "ends_after"),
        ("search=", "search"),
        ("search=+", "search"),
        ("categories=nothing", "categories"),
        ("tags=nothing", "tags"),
        ("categories=", "categories"),
        ("venue=abc", "venue"),
        ("venue=999", "venue"),
        ("organizer=999", "organizer"),
        ("organizer=1.5", "organizer"),
        ("featured=maybe", "featured"),
        ("include=0", "include"),
        ("include=1,x", "include"),
        ("post_parent=999", "post_parent"),
        ("geoloc=x", "geoloc"),
        ("geoloc_lat=1", "geoloc_lat"),
        ("geoloc_lng=1", "geoloc_lng"),
        ("geoloc_lat=91&geoloc_lng=1", "geoloc_lat"),
        ("geoloc_lat=1&geoloc_lng=1&geoloc_radius=0", "geoloc_radius"),
        ("geoloc_lat=1&geoloc_lng=1&geoloc_unit=feet", "geoloc_unit"),
        ("ticketed=x", "ticketed"),
        ("orderby=cost", "orderby"),
        ("order=up", "order"),
        ("overlaps=x", "overlaps"),
    ] {
        let answer = app.get(&format!("/events?{query}")).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, "rest_invalid_param"),
            "{query}: {}",
            answer.text
        );
        assert!(answer.json["data"]["params"][name].is_string(), "{query}: {}", answer.text);
    }
    for query in [
        "page=1.0",
        "per_page=1000",
        "unknown=1",
        "strict_dates=whatever",
        "featured=TRUE",
        "search=0",
    ] {
        app.get(&format!("/events?{query}")).await.expect(200);
    }
}

#[actix_web::test]
async fn page_size_has_a_default_and_a_cap() {
    let app = App::with(&["--per-page=2", "--per-page-max=3"]).await;
    for _ in 0..5 {
        app.event(json!({})).await;
    }
    assert_eq!(app.get("/events").await.ids().len(), 2);
    let capped = app.get("/events?per_page=100&page=2").await;
    assert_eq!((capped.ids().len(), &capped.json["total_pages"]), (2, &json!(2)));
    let previous = capped.json["previous_rest_url"].as_str().unwrap();
    assert!(
        previous.contains("per_page=3")
            && !previous.contains("&page=")
            && !previous.contains("?page="),
        "{previous}"
    );
}

#[actix_web::test]
async fn page_links_keep_every_filter_and_are_encoded() {
    let app = App::new().await;
    for n in 0..2 {
        app.event(json!({"title": format!("R & B {n}"), "tags": ["x"], "categories": ["Ä b"]}))
            .await;
    }
    let path = "/events?tags[]=x&categories=a-b&featured=false&search=r+%26+b&per_page=1&strict_dates=1&start_date=2027-01-01";
    let list = app.get(path).await.expect(200);
    let next = list.json["next_rest_url"].as_str().unwrap();
    for part in [
        "tags=x",
        "categories=a-b",
        "featured=false",
        "search=r%20%26%20b",
        "strict_dates=1",
        "start_date=2027-01-01",
        "end_date=",
        "status=publish",
    ] {
        assert!(next.contains(part), "{part} is not in {next}");
    }
    assert!(next.ends_with("&page=2"), "{next}");
    assert!(list.json["rest_url"].as_str().unwrap().contains("/events?page=1&per_page=1&"));
}

#[actix_web::test]
async fn events_sort_by_local_start_then_publication_then_id() {
    let app = App::new().await;
    let at = |zone: &str, date: &str| json!({"title": zone, "timezone": zone, "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 11:00", "date": date});
    let a = app.event(at("America/New_York", "2027-01-02")).await;
    let b = app.event(at("Asia/Tokyo", "2027-01-03")).await;
    let c = app.event(at("UTC", "2027-01-01")).await;
    let d = app.event(at("UTC", "2027-01-01")).await;
    assert_eq!(app.get("/events").await.ids(), [c, d, a, b]);
}

#[actix_web::test]
async fn page_links_show_the_values_in_effect_in_recorded_order() {
    let app = App::with(&["--site-timezone=Europe/Vienna"]).await;
    app.make("/categories", json!({"name": "Jazz"})).await;
    let end = "end_date=2029-03-10%2023%3A59%3A59";
    let public = "status=publish";
    for (query, expected) in [
        ("start_date=2027-03-14", format!("start_date=2027-03-14%2000%3A00%3A00&{end}&{public}")),
        (
            "end_date=2027-03-20&start_date=1804032000",
            format!(
                "start_date=2027-03-03%2000%3A00%3A00&end_date=2027-03-20%2023%3A59%3A59&{public}"
            ),
        ),
        (
            "start_date=2027-03-14T23:30:00-05:00",
            format!("start_date=2027-03-14%2000%3A00%3A00&{end}&{public}"),
        ),
        (
            "starts_after=2027-03-14&per_page=5",
            format!("starts_after=2027-03-14%2023%3A59%3A59&{public}"),
        ),
        (
            "categories=jazz&end_date=2027-04-01&featured=true&start_date=2027-03-01",
            format!(
                "start_date=2027-03-01%2000%3A00%3A00&end_date=2027-04-01%2023%3A59%3A59&categories=jazz&featured=true&{public}"
            ),
        ),
        (
            "start_date=2027-03-14 18:30&strict_dates=true&end_date=2027-04-01T00:00:00Z",
            format!(
                "start_date=2027-03-14%2018%3A30%3A00&end_date=2027-04-01T00%3A00%3A00Z&strict_dates=true&{public}"
            ),
        ),
    ] {
        let list = app.get(&format!("/events?{query}")).await.expect(200);
        let link = list.json["rest_url"].as_str().unwrap();
        let (_, shown) = link.split_once("?page=1&per_page=").unwrap();
        let (_, shown) = shown.split_once('&').unwrap();
        assert_eq!(shown, expected, "{query}");
    }
    let list = app.get_as("editor", "/events?status=draft,%20publish").await.expect(200);
    let link = list.json["rest_url"].as_str().unwrap();
    assert!(link.ends_with("&status=draft%2Cpublish"), "{link}");
    let refused = app.get("/categories?slug=").await.expect(400);
    assert!(refused.json["data"]["params"]["slug"].is_string(), "{}", refused.text);
}
