//! Windows and totals compared with a naive model.

use calendar::{
    EventFilter, Limits, Links, Paging, Schedule, Scope, Window, find_event, list_by_statement,
    list_events, update_event,
};
use database::{DatabaseError, Db};
use serde_json::json;

use crate::app::{App, Dice, NOW, page_with_included, plant, send};

const DAY: i64 = 24 * 3600;

/// Creates events spread over two years, some of them long. Returns their ids and dates.
async fn fill(app: &App, dice: &mut Dice, count: i64) -> Vec<(i64, Schedule)> {
    let now = NOW.parse::<jiff::Timestamp>().unwrap().as_second();
    let zones =
        ["UTC", "Europe/Vienna", "America/New_York", "UTC+14", "UTC-11:30", "Asia/Kathmandu"];
    let mut rows = Vec::new();
    for number in 0..count {
        let start = now - 365 * DAY + dice.roll(730 * DAY);
        let length = match number % 10 {
            0 => dice.roll(200 * DAY),
            1 => 0,
            _ => dice.roll(2 * DAY),
        };
        let zone = zones[usize::try_from(dice.roll(6)).unwrap()];
        let id = app
            .event(json!({
                "title": format!("e{number}"), "timezone": zone,
                "start_date": start.to_string(), "end_date": (start + length).to_string(),
                "all_day": number % 7 == 0,
            }))
            .await;
        let load = move |db: &mut Db| -> Result<Schedule, DatabaseError> {
            Ok(find_event(db, id)?.unwrap().schedule)
        };
        rows.push((id, app.state.pools.read_blocking(load).unwrap()));
    }
    rows
}

pub fn holds(Window { wall, utc }: &Window, schedule: &Schedule) -> bool {
    let within = |limits: &Limits, start: i64, end: i64| {
        limits.start_min.is_none_or(|bound| start >= bound)
            && limits.start_max.is_none_or(|bound| start <= bound)
            && limits.end_min.is_none_or(|bound| end >= bound)
            && limits.end_max.is_none_or(|bound| end <= bound)
            && limits.touching.is_none_or(|bound| end != bound || start >= bound)
    };
    within(wall, schedule.start_local, schedule.end_local)
        && within(utc, schedule.start_utc, schedule.end_utc)
}

fn random_window(dice: &mut Dice, rows: &[(i64, Schedule)]) -> Window {
    let now = NOW.parse::<jiff::Timestamp>().unwrap().as_second();
    let shape = dice.roll(4);
    let mut bound = |chance: i64| {
        if dice.roll(10) >= chance {
            return None;
        }
        // Half of the bounds are exactly at an edge of an event, or a second off.
        let row = &dice.pick(rows).1;
        Some(match dice.roll(8) {
            0 => row.start_utc + dice.roll(3) - 1,
            1 => row.end_utc + dice.roll(3) - 1,
            2 => row.start_local + dice.roll(3) - 1,
            3 => row.end_local + dice.roll(3) - 1,
            _ => now - 500 * DAY + dice.roll(1000 * DAY),
        })
    };
    let (first, second) = (bound(8), bound(8));
    let limits = match shape {
        0 | 1 => Limits { start_min: first, end_max: second, ..Limits::default() },
        2 => Limits { end_min: first, start_max: second, touching: first, ..Limits::default() },
        _ => {
            let (third, fourth, touching) = (bound(4), bound(4), bound(2));
            let (start_min, start_max) = (first, second);
            Limits {
                start_min,
                start_max,
                end_min: third,
                end_max: fourth,
                touching,
                is_overlap: false,
            }
        }
    };
    let mut window = Window::default();
    // Each bound is either a local time or an instant.
    for side in [
        (|limits| &mut limits.start_min) as fn(&mut Limits) -> &mut Option<i64>,
        |limits| &mut limits.start_max,
        |limits| &mut limits.end_min,
        |limits| &mut limits.end_max,
        |limits| &mut limits.touching,
    ] {
        let mut limits = limits;
        let clock = if dice.roll(3) == 0 { &mut window.utc } else { &mut window.wall };
        *side(clock) = *side(&mut limits);
    }
    window
}

#[actix_web::test]
async fn totals_and_pages_match_a_naive_filter() {
    let app = App::new().await;
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut rows = fill(&app, &mut dice, 150).await;
    // The counts must remain exact after changes.
    let mut gone = Vec::new();
    for (at, (id, ..)) in rows.iter().take(20).enumerate() {
        app.delete(&format!("/events/{id}")).await.expect(200);
        if at % 2 == 0 {
            app.patch(&format!("/events/{id}"), &json!({"status": "publish"})).await.expect(200);
        } else {
            gone.push(*id);
        }
    }
    rows.retain(|row| !gone.contains(&row.0));
    for round in 0..1000 {
        let window = random_window(&mut dice, &rows);
        let mut expected: Vec<i64> =
            rows.iter().filter(|row| holds(&window, &row.1)).map(|row| row.0).collect();
        expected.sort_unstable();
        let filter = EventFilter::plain(Scope::public(), window);
        let paging = Paging { page: 1, per_page: 1000 };
        let (mut ids, total) = app.list(&filter, paging);
        let check = |db: &mut Db| -> Result<i64, DatabaseError> {
            assert_eq!(
                page_with_included(db, app.access(), &filter, paging)?,
                (ids.clone(), total)
            );
            // The SQL statement used while the index is being built gives the same list.
            let listed = list_by_statement(db, &filter, paging)?;
            assert_eq!(listed, (ids.clone(), total), "{window:?}");
            let middle = Paging { page: 2, per_page: 7 };
            let listed = list_by_statement(db, &filter, middle)?;
            assert_eq!(listed, list_events(db, app.access(), &filter, middle).unwrap());
            Ok(total)
        };
        let counted = app.state.pools.read_blocking(check).unwrap();
        ids.sort_unstable();
        assert_eq!(ids, expected, "round {round}: {window:?}");
        let many = i64::try_from(expected.len()).unwrap();
        assert_eq!((counted, total), (many, many), "round {round}: {window:?}");
    }
}

/// A period of 256 hours, in seconds.
const PERIOD: i64 = 256 * 3600;

/// Returns an instant at most a second from a full hour. Half of the hours are the edge of a
/// period.
fn near_an_edge(dice: &mut Dice) -> i64 {
    let hour = if dice.roll(2) == 0 { dice.roll(256) * 3600 } else { 0 };
    // From 1911 to 2087.
    (dice.roll(6000) - 2000) * PERIOD + hour + dice.roll(3) - 1
}

#[actix_web::test]
async fn totals_are_exact_at_hour_edges_and_before_1970() {
    let app = App::new().await;
    let author = app.user("editor");
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let planting = |db: &mut Db| -> Result<Vec<Schedule>, DatabaseError> {
        let mut rows = Vec::new();
        for number in 0..400 {
            let first = near_an_edge(&mut dice);
            let second = if number % 3 == 0 { near_an_edge(&mut dice) } else { first + PERIOD };
            let (start, end) = (first.min(second), first.max(second));
            let event = plant(db, author, (start, end), &Links::default(), |_| ())?;
            // Some events move again, within a period or by many.
            let moved = match number % 8 {
                0 => -1000 * PERIOD,
                1 => 3600,
                _ => 0,
            };
            let mut later = event.clone();
            later.schedule.start_utc += moved;
            later.schedule.start_local += moved;
            later.schedule.end_utc += moved.max(0);
            later.schedule.end_local += moved.max(0);
            if moved != 0 {
                update_event(db, (&event, &Links::default()), (&later, &Links::default()))?;
            }
            rows.push(later.schedule);
        }
        Ok(rows)
    };
    let rows = app.state.pools.write_blocking(planting).unwrap();
    for round in 0..1000 {
        let bound = |dice: &mut Dice| {
            let Schedule { start_utc: start, end_utc: end, .. } = *dice.pick(&rows);
            match dice.roll(5) {
                0 => None,
                1 => Some(start + dice.roll(3) - 1),
                2 => Some(end + dice.roll(3) - 1),
                _ => Some(near_an_edge(dice)),
            }
        };
        let (first, second) = (bound(&mut dice), bound(&mut dice));
        let limits = if dice.roll(2) == 0 {
            Limits { start_min: first, end_max: second, ..Limits::default() }
        } else {
            let touching = first.filter(|_| dice.roll(2) == 0);
            Limits { end_min: first, start_max: second, touching, ..Limits::default() }
        };
        let window = match dice.roll(2) {
            0 => Window::on_wall(limits),
            _ => Window { utc: limits, ..Window::default() },
        };
        let expected = rows.iter().filter(|schedule| holds(&window, schedule)).count();
        let filter = EventFilter::plain(Scope::public(), window);
        let (_, total) = app.list(&filter, Paging { page: 1, per_page: 1 });
        assert_eq!(total, i64::try_from(expected).unwrap(), "round {round}: {window:?}");
    }
}

#[actix_web::test]
async fn every_bound_selects_its_events() {
    let app = App::new().await;
    for (title, start, end) in [
        ("before", "2027-05-04 22:00", "2027-05-04 23:00"),
        ("into", "2027-05-04 23:00", "2027-05-05 01:00"),
        ("morning", "2027-05-05 08:00", "2027-05-05 09:00"),
        ("evening", "2027-05-05 20:00", "2027-05-05 22:00"),
        ("out", "2027-05-05 23:00", "2027-05-06 01:00"),
        ("after", "2027-05-06 08:00", "2027-05-06 09:00"),
    ] {
        app.event(json!({"title": title, "start_date": start, "end_date": end})).await;
    }
    let all_day = json!({"title": "day", "start_date": "2027-05-05", "end_date": "2027-05-05", "all_day": true});
    app.event(all_day).await;
    let noon = "2027-05-05%2012:00";
    for (query, titles) in [
        (format!("start_date={noon}"), "day morning evening out after"),
        (format!("start_date={noon}&strict_dates=1"), "evening out after"),
        (format!("end_date={noon}"), "before into day morning evening"),
        (format!("end_date={noon}&strict_dates=true"), "before into morning"),
        (format!("starts_before={noon}"), "before into day morning evening out"),
        (format!("starts_before={noon}&strict_dates=yes"), "before into day morning"),
        (format!("starts_after={noon}"), "after"),
        (format!("starts_after={noon}&strict_dates=on"), "evening out after"),
        (format!("ends_before={noon}"), "before into day morning evening"),
        (format!("ends_before={noon}&strict_dates=1"), "before into morning"),
        (format!("ends_after={noon}"), "out after"),
        (format!("ends_after={noon}&strict_dates=1"), "day evening out after"),
        (format!("start_date={noon}&end_date={noon}"), "day morning evening"),
        (
            format!("start_date={noon}&end_date={noon}&overlaps=true"),
            "into day morning evening out",
        ),
        ("start_date=2027-05-06&end_date=2027-05-05".to_owned(), ""),
        (format!("start_date={noon}&strict_dates=no"), "day morning evening out after"),
        // The offset of a date with time is ignored unless `strict_dates` is set.
        ("start_date=2027-05-05T23:30:00-08:00".to_owned(), "day morning evening out after"),
    ] {
        let answer = app.get(&format!("/events?per_page=50&{query}")).await.expect(200);
        let events = answer.json["events"].as_array().unwrap();
        let found: Vec<&str> = events.iter().filter_map(|event| event["title"].as_str()).collect();
        assert_eq!(found.join(" "), titles, "{query}");
        assert_eq!(answer.json["total"], found.len(), "{query}");
    }
}

#[actix_web::test]
async fn event_ending_at_midnight_is_not_on_the_next_day() {
    let app = App::new().await;
    for (title, start, end) in [
        ("late", "2027-05-04 20:00", "2027-05-05 00:00"),
        ("moment", "2027-05-05 00:00", "2027-05-05 00:00"),
        ("after", "2027-05-06 00:00", "2027-05-06 01:00"),
    ] {
        app.event(json!({"title": title, "start_date": start, "end_date": end})).await;
    }
    for (query, titles) in [
        ("start_date=2027-05-04&end_date=2027-05-04", "late"),
        ("start_date=2027-05-05&end_date=2027-05-05", "moment"),
        ("start_date=2027-05-05&end_date=2027-05-05&featured=false", "moment"),
        ("start_date=2027-05-05&end_date=2027-05-05&search=late", ""),
        (
            "start_date=2027-05-05T00:00:00Z&end_date=2027-05-06T12:00:00Z&strict_dates=1",
            "moment after",
        ),
    ] {
        let answer = app.get(&format!("/events?overlaps=true&{query}")).await.expect(200);
        let events = answer.json["events"].as_array().unwrap();
        let found: Vec<&str> = events.iter().filter_map(|event| event["title"].as_str()).collect();
        assert_eq!(found.join(" "), titles, "{query}");
        assert_eq!(answer.json["total"], found.len(), "{query}");
    }
    for (day, shown) in [("2027-05-04", true), ("2027-05-05", false)] {
        let page = send(app.server.get(&format!("/events/?date={day}"))).await.expect(200);
        assert_eq!(page.text.contains("/event/late/"), shown, "{day}");
    }
}

#[actix_web::test]
async fn upper_bound_in_year_9999_means_no_end() {
    let app = App::new().await;
    let id = app.event(json!({"start_date": "9998-12-30", "end_date": "9998-12-31 23:59"})).await;
    for query in [
        "start_date=2030-01-01&end_date=9999-12-31",
        "start_date=2030-01-01&end_date=9999-12-31&strict_dates=true",
        "start_date=2030-01-01&end_date=9999-12-31T23:59:59Z&strict_dates=true",
        "start_date=2030-01-01&end_date=9999-12-31T23:59:59-12:00&strict_dates=true",
        "start_date=2030-01-01&end_date=253402300799&strict_dates=true",
        "start_date=2030-01-01&end_date=9999-12-31&overlaps=true",
        "starts_before=9999-12-31",
        "ends_before=9999-12-31",
    ] {
        let list = app.get(&format!("/events?{query}")).await.expect(200);
        assert_eq!(list.ids(), [id], "{query}");
        let link = list.json["rest_url"].as_str().unwrap();
        let link = &link[link.find("/events?").unwrap()..];
        assert_eq!(app.get(link).await.expect(200).ids(), [id], "{link}");
    }
    for query in ["start_date=9999-12-31", "starts_after=9999-12-31", "ends_after=9999-12-31"] {
        app.get(&format!("/events?{query}")).await.expect(400);
    }
    let feed = app.get("/ical?start_date=2030-01-01&end_date=9999-12-31").await.expect(200);
    assert!(feed.text.contains("BEGIN:VEVENT"));
    app.get("/events?end_date=10000-01-01").await.expect(400);
}

#[actix_web::test]
async fn start_date_is_a_lower_bound() {
    let app = App::new().await;
    let id = app.event(json!({})).await;
    assert_eq!(app.get("/events?start_date=2027-03-20").await.ids(), [id]);
}

#[actix_web::test]
async fn default_window_begins_yesterday_and_excludes_running_events() {
    let app = App::with(&["--site-timezone=Pacific/Auckland"]).await;
    // In Auckland it is 01:00 on the 11th.
    for (title, start, end) in [
        ("early", "2027-03-09 23:59", "2027-03-10 01:00"),
        ("yesterday", "2027-03-10 00:00", "2027-03-10 01:00"),
        ("running", "2027-03-01 00:00", "2027-04-01 00:00"),
        ("far", "2029-03-11 10:00", "2029-03-11 12:00"),
        ("too far", "2029-03-12 10:00", "2029-03-12 12:00"),
    ] {
        app.event(json!({"title": title, "start_date": start, "end_date": end})).await;
    }
    let answer = app.get("/events").await;
    let titles: Vec<&str> = answer.json["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|e| e["title"].as_str())
        .collect();
    assert_eq!(titles, ["yesterday", "far"]);
}

#[actix_web::test]
async fn starts_and_ends_bounds_replace_the_default_window() {
    let app = App::new().await;
    for (title, date) in [("old", "2020-05-05"), ("soon", "2027-05-05"), ("far", "2040-05-05")] {
        app.event(json!({"title": title, "start_date": date, "end_date": date})).await;
    }
    for (query, expected) in [
        ("", "soon"),
        ("starts_before=2050-01-01", "old soon far"),
        ("ends_after=2000-01-01", "old soon far"),
        ("ends_before=2030-01-01", "old soon"),
        ("starts_after=2021-01-01", "soon far"),
        ("starts_after=2021-01-01&end_date=2030-01-01", "soon"),
        ("ends_before=2030-01-01&start_date=2021-01-01", "soon"),
    ] {
        let answer = app.get(&format!("/events?{query}")).await.expect(200);
        let events = answer.json["events"].as_array().unwrap();
        let found: Vec<&str> = events.iter().filter_map(|event| event["title"].as_str()).collect();
        assert_eq!(found.join(" "), expected, "{query}");
    }
}

#[actix_web::test]
async fn timestamps_and_words_use_the_day_of_the_site() {
    let app = App::with(&["--site-timezone=Pacific/Auckland"]).await;
    // It is 12:00 UTC on the 10th, and 01:00 on the 11th in Auckland.
    for (title, date) in [("tenth", "2027-03-10 09:00"), ("eleventh", "2027-03-11 09:00")] {
        app.event(json!({"title": title, "start_date": date, "end_date": date})).await;
    }
    let noon = NOW.parse::<jiff::Timestamp>().unwrap().as_second();
    for bound in [noon.to_string(), "now".to_owned(), "today".to_owned(), "-5 minutes".to_owned()] {
        let answer = app.get(&format!("/events?start_date={bound}")).await.expect(200);
        let events = answer.json["events"].as_array().unwrap();
        let found: Vec<&str> = events.iter().filter_map(|event| event["title"].as_str()).collect();
        assert_eq!(found, ["eleventh"], "{bound}");
    }
}
