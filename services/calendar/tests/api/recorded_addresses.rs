//! URLs that links and subscribers of the recorded system use.

use serde_json::json;

use crate::app::{App, send};
use crate::pages::page;

#[actix_web::test]
async fn addresses_of_the_recorded_system_redirect() {
    let app = App::with(&["--site-timezone=Asia/Tokyo"]).await;
    let id = app.event(json!({"title": "Show"})).await;
    let post = format!("/?post_type=tribe_events&p={id}");
    app.make("/categories", json!({"name": "Jazz"})).await;
    app.make("/tags", json!({"name": "Late"})).await;
    let draft = app.event(json!({"title": "Draft", "status": "draft"})).await;
    let past_of_category = "/events/category/jazz/?eventDisplay=past";
    let month_of_root = "/?post_type=tribe_events&eventDisplay=month&tribe-bar-date=2027-03";
    for (path, status, location) in [
        ("/", 302, "/events/"),
        ("/events/list/", 301, "/events/"),
        ("/events/list/?ical=1", 301, "/events/?ical=1"),
        ("/events/list/?tribe-bar-date=2027-03-05", 301, "/events/day/2027-03-05/"),
        ("/events/list/page/3/", 301, "/events/?page=3"),
        ("/events/page/2/?tribe-bar-search=show", 301, "/events/?search=show&page=2"),
        ("/events/today/", 302, "/events/day/2027-03-10/"),
        ("/events/2027-03-05/", 301, "/events/day/2027-03-05/"),
        ("/events/2027-03/", 301, "/events/month/2027-03/"),
        ("/?post_type=tribe_events", 302, "/events/"),
        ("/?post_type=tribe_events&ical=1", 302, "/events/?ical=1"),
        ("/?post_type=tribe_events&tribe_events_cat=jazz", 302, "/events/?category=jazz"),
        ("/?tribe_events=show", 301, "/event/show/"),
        ("/events/category/jazz/list/", 301, "/events/category/jazz/"),
        ("/events/category/jazz/month/?ical=1", 301, "/events/category/jazz/?ical=1"),
        ("/events/tag/late/list/", 301, "/tag/late/"),
        ("/events/?eventDisplay=month", 301, "/events/month/"),
        ("/events/list/?eventDisplay=month&ical=1", 301, "/events/month/?ical=1"),
        ("/events/?eventDisplay=month&tribe-bar-date=2027-03-05", 301, "/events/month/2027-03/"),
        ("/?post_type=tribe_events&eventDisplay=month", 302, "/events/month/"),
        ("/events/month/?tribe-bar-date=2027-03", 301, "/events/month/2027-03/"),
        ("/events/month/?tribe-bar-date=2027-03-05", 301, "/events/month/2027-03/"),
        ("/events/?tribe-bar-date=2027-03", 301, "/events/month/2027-03/"),
        ("/events/list/?tribe-bar-date=2027-03&ical=1", 301, "/events/month/2027-03/?ical=1"),
        (month_of_root, 302, "/events/month/2027-03/"),
        ("/events/list/?outlook-ical=1", 301, "/events/?outlook-ical=1"),
        ("/events/list/?eventDisplay=past", 301, "/events/?eventDisplay=past"),
        ("/events/page/2/?tribe_event_display=past", 301, "/events/?eventDisplay=past&page=2"),
        ("/?post_type=tribe_events&eventDisplay=past", 302, "/events/?eventDisplay=past"),
        (past_of_category, 301, "/events/?category=jazz&eventDisplay=past"),
        ("/tag/late/?eventDisplay=past", 301, "/events/?tag=late&eventDisplay=past"),
        ("/events/feed/", 301, "/events/atom.xml"),
        ("/feed/?post_type=tribe_events", 301, "/events/atom.xml"),
        ("/events/category/jazz/feed/", 301, "/events/atom.xml?category=jazz"),
        ("/events/category/jazz/2027-03-05/", 301, "/events/day/2027-03-05/?category=jazz"),
        ("/events/week/2027-03-05/", 301, "/events/week/2027-W09/"),
        ("/events/photo/?tribe-bar-search=show", 301, "/events/?search=show"),
        ("/events/map/", 301, "/events/"),
        ("/events/summary/", 301, "/events/"),
        ("/events/list/?ical=1&outlook-ical=1", 301, "/events/?outlook-ical=1"),
        ("/?post_type=tribe_events&outlook-ical=1", 302, "/events/?outlook-ical=1"),
        (&post, 301, "/event/show/"),
    ] {
        let moved = page(&app, path).await.expect(status);
        assert_eq!(moved.header("location"), location, "{path}");
        let target = page(&app, location).await;
        let is_beyond = location.contains("page=");
        assert_eq!(target.status, if is_beyond { 404 } else { 200 }, "{location}");
    }
    // After a rename, these paths redirect elsewhere.
    for path in [&*format!("/?p={id}"), past_of_category, "/tag/late/?eventDisplay=past"] {
        let moved = page(&app, path).await.expect(301);
        assert_eq!(moved.header("cache-control"), "no-cache", "{path}");
    }
    let icon = page(&app, "/favicon.ico").await.expect(302);
    let icon = page(&app, icon.header("location")).await.expect(200);
    assert_eq!(icon.header("content-type"), "image/svg+xml");
    // A view is not the name of a category, unless there is such a category.
    page(&app, "/events/category/rock/list/").await.expect(301);
    page(&app, "/events/category/list/").await.expect(404);
    app.make("/categories", json!({"name": "List"})).await;
    let moved = page(&app, "/events/category/jazz/list/").await.expect(301);
    assert_eq!(moved.header("location"), "/events/category/list/");
    for path in ["/events/tomorrow/", "/events/2027-13-05/", &format!("/?p={draft}"), "/?p=99999"] {
        page(&app, path).await.expect(404);
    }
    for month in ["2027-13", "2027-3", "03-2027"] {
        page(&app, &format!("/events/?tribe-bar-date={month}")).await.expect(400);
    }
    page(&app, "/events/?date=2027-03").await.expect(400);
    let shown = page(&app, "/events/?tribe-bar-date=2027-03-05").await.expect(200);
    assert!(shown.text.contains("2027-03-05"));
}

#[actix_web::test]
async fn api_answers_by_the_query_of_the_root() {
    let app = App::new().await;
    let id = app.event(json!({"title": "Show"})).await;
    for (query, path) in [
        (
            format!("/?rest_route=/tribe/events/v1/events/{id}"),
            format!("/wp-json/tribe/events/v1/events/{id}"),
        ),
        (
            "/?rest_route=%2Ftribe%2Fevents%2Fv1%2Fevents%2F&per_page=1&page=1".to_owned(),
            "/wp-json/tribe/events/v1/events?per_page=1&page=1".to_owned(),
        ),
        (
            "/index.php?page=1&rest_route=/tribe/events/v1/venues".to_owned(),
            "/wp-json/tribe/events/v1/venues?page=1".to_owned(),
        ),
    ] {
        let one = send(app.server.get(&query)).await.expect(200);
        let other = send(app.server.get(&path)).await.expect(200);
        assert_eq!(one.text, other.text, "{query}");
    }
    send(app.server.get("/?rest_route=/wp/v2/posts")).await.expect(302);
}
