//! The pages of days and weeks, and their links to the nearest ones with events.

use serde_json::json;

use crate::app::{Answer, App};
use crate::pages::{page, with_events};

/// Returns the links to the previous and the next page.
fn steps(page: &Answer) -> [Option<&str>; 2] {
    ["prev", "next"].map(|rel| {
        let (_, rest) = page.text.split_once(&format!("rel=\"{rel}\" href=\""))?;
        rest.split_once('"').map(|(href, _)| href)
    })
}

fn count(page: &Answer) -> usize {
    page.text.matches("<article class=\"event").count()
}

#[actix_web::test]
async fn day_and_week_show_their_events() {
    let app = with_events().await;
    for (path, name, events) in [
        ("/events/day/2027-03-14/", "Sunday, 14 March 2027", 3),
        ("/events/day/2027-03-16/", "Tuesday, 16 March 2027", 1),
        ("/events/day/2027-03-22/", "Monday, 22 March 2027", 0),
        ("/events/day/", "Wednesday, 10 March 2027", 2),
        ("/events/?date=2027-03-14", "Sunday, 14 March 2027", 3),
        ("/events/week/2027-W10/", "8 – 14 March 2027", 4),
        ("/events/week/", "8 – 14 March 2027", 4),
        ("/events/week/2027-W10/?search=brass", "8 – 14 March 2027", 1),
        ("/events/week/2027-W10/?category=culture&tag=open-air", "8 – 14 March 2027", 1),
    ] {
        let shown = page(&app, path).await.expect(200);
        assert!(shown.text.contains(&format!("<h1>{name}</h1>")), "{path}");
        assert_eq!(count(&shown), events, "{path}");
        for hidden in ["Secret", "Unlisted", "ellar"] {
            assert!(!shown.text.contains(hidden), "{hidden} on {path}");
        }
    }
    let week = page(&app, "/events/week/2027-W10/").await.text;
    for heading in ["Already running", "Wednesday, 10 March 2027", "Sunday, 14 March 2027"] {
        assert!(week.contains(&format!("<h2 class=\"span-name\">{heading}</h2>")), "{heading}");
    }
    for path in [
        "/events/day/2027-02-29/",
        "/events/day/20270314/",
        "/events/day/0000-01-01/",
        "/events/week/2027-W53/",
        "/events/week/2027-10/",
        "/events/week/2027-W10/?page=2",
    ] {
        page(&app, path).await.expect(404);
    }
}

#[actix_web::test]
async fn steps_lead_to_the_nearest_periods_with_events() {
    let app = with_events().await;
    for (path, previous, next) in [
        // The exhibition runs from 20 February to 20 March, longer than later events.
        ("/events/day/2027-03-12/", Some("2027-03-11"), Some("2027-03-13")),
        ("/events/day/2027-03-21/", Some("2027-03-20"), Some("2027-04-02")),
        ("/events/day/2027-03-30/", Some("2027-03-20"), Some("2027-04-02")),
        ("/events/day/2027-02-20/", None, Some("2027-02-21")),
        ("/events/day/2027-04-02/", Some("2027-03-20"), None),
        ("/events/day/2027-02-10/", None, Some("2027-02-20")),
        ("/events/day/0001-01-01/", None, Some("2027-02-20")),
        ("/events/day/9998-12-31/", Some("2027-04-02"), None),
    ] {
        let shown = page(&app, path).await.expect(200);
        let expected = [previous, next].map(|day| day.map(|day| format!("/events/day/{day}/")));
        assert_eq!(steps(&shown).map(|href| href.map(str::to_owned)), expected, "{path}");
    }
    let week = page(&app, "/events/week/2027-W12/?search=brass").await.expect(200);
    assert_eq!(steps(&week), [Some("/events/week/2027-W10/?search=brass"), None]);
    let week = page(&app, "/events/week/2027-W12/").await.expect(200);
    let near = [Some("/events/week/2027-W11/"), Some("/events/week/2027-W13/")];
    assert_eq!(steps(&week), near);
}

#[actix_web::test]
async fn day_page_offers_its_calendar_file_and_canonical_url() {
    let app = with_events().await;
    let feed = page(&app, "/events/day/2027-03-15/?ical=1").await.expect(200);
    let titles = feed.text.lines().filter_map(|line| line.strip_prefix("SUMMARY:"));
    assert_eq!(titles.collect::<Vec<_>>(), ["Long exhibition", "Two days"]);
    let shown = page(&app, "/events/?date=2027-03-15").await.expect(200);
    let canonical =
        format!("rel=\"canonical\" href=\"{}\"", app.server.url("/events/day/2027-03-15/"));
    assert!(shown.text.contains(&canonical) && !shown.text.contains("noindex"));
    let empty = page(&app, "/events/day/2027-03-22/").await.expect(200);
    assert!(
        empty.text.contains("noindex") && empty.text.contains("Nothing is planned for this day")
    );
    let month = page(&app, "/events/month/2027-03/").await.expect(200);
    assert!(month.text.contains("<a href=\"/events/week/\">Week</a>"));
}

#[actix_web::test]
async fn busy_week_has_several_pages() {
    let app = App::with(&["--per-page=2", "--per-page-max=4"]).await;
    for hour in 10..16 {
        app.event(json!({
            "title": format!("At {hour}"),
            "start_date": format!("2027-03-09 {hour}:00"),
            "end_date": format!("2027-03-09 {hour}:30"),
        }))
        .await;
    }
    let first = page(&app, "/events/week/2027-W10/").await.expect(200);
    assert_eq!(count(&first), 4);
    assert!(first.text.contains("href=\"/events/week/2027-W10/?page=2\""));
    assert_eq!(count(&page(&app, "/events/week/2027-W10/?page=2").await.expect(200)), 2);
}

#[actix_web::test]
async fn step_back_skips_the_midnight_at_which_an_event_ends() {
    let app = App::new().await;
    app.event(json!({"start_date": "2027-05-07 20:00", "end_date": "2027-05-09 00:00"})).await;
    // A zero-length event belongs to the day of its midnight.
    app.event(json!({"start_date": "2027-05-05 00:00", "end_date": "2027-05-05 00:00"})).await;
    for (day, previous) in [("2027-05-10", "2027-05-08"), ("2027-05-07", "2027-05-05")] {
        let shown = page(&app, &format!("/events/day/{day}/")).await.expect(200);
        let expected = format!("/events/day/{previous}/");
        assert_eq!(steps(&shown)[0], Some(expected.as_str()), "{day}");
        assert_eq!(count(&page(&app, &expected).await.expect(200)), 1, "{previous}");
    }
}
