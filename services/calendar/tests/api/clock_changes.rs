//! Lists of events that start or end near a clock change.

use calendar::{
    EventFilter, EventOrder, Limits, Links, Paging, PointInTime, Schedule, Scope, Unpublished,
    Window, Zone, list_by_statement,
};
use database::{DatabaseError, Db};
use serde_json::json;

use crate::app::{App, Dice, page_with_included, plant};
use crate::windows::holds;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// Number of windows compared with the naive filter.
const ROUNDS: usize = 2000;

/// Ten zones, each with an instant within a year before both of its clock changes. The clocks
/// change by an hour, by half an hour, at midnight, and by a whole day.
const ZONES: [(&str, &str); 10] = [
    ("Europe/Vienna", "2027-01-01T00:00:00Z"),
    ("Europe/London", "2027-01-01T00:00:00Z"),
    ("America/New_York", "2027-01-01T00:00:00Z"),
    ("America/Los_Angeles", "2027-01-01T00:00:00Z"),
    ("America/Santiago", "2027-01-01T00:00:00Z"),
    ("America/Havana", "2027-01-01T00:00:00Z"),
    ("America/St_Johns", "2006-01-01T00:00:00Z"),
    ("Australia/Lord_Howe", "2027-01-01T00:00:00Z"),
    ("Atlantic/Azores", "2027-01-01T00:00:00Z"),
    ("Pacific/Kwajalein", "1969-03-01T00:00:00Z"),
];

/// Returns the instants within a year at which the offset of a zone changes.
fn changes(zone: &Zone, from: i64) -> Vec<i64> {
    let offset = |at: i64| zone.offset(jiff::Timestamp::from_second(at).unwrap());
    let steps = (from..from + 366 * DAY).step_by(900);
    steps.filter(|at| offset(*at) != offset(at - 900)).collect()
}

struct Planted {
    id: i64,
    schedule: Schedule,
    in_category: bool,
    featured: bool,
}

/// Adds events around the clock changes of all zones. Some of them last for weeks.
fn fill(app: &App, dice: &mut Dice, category: i64) -> Vec<Planted> {
    let author = app.user("editor");
    let planting = |db: &mut Db| -> Result<Vec<Planted>, DatabaseError> {
        let mut rows = Vec::new();
        for (name, from) in ZONES {
            let zone = Zone::named(name).unwrap();
            let from: jiff::Timestamp = from.parse().unwrap();
            let changes = changes(&zone, from.as_second());
            assert!(!changes.is_empty(), "{name}");
            for number in 0..24 {
                let change = *dice.pick(&changes);
                let (start, length) = match number % 8 {
                    0 => (change - dice.roll(DAY), dice.roll(60 * DAY)),
                    // Starts before the change and ends after it. If the clock is set back, the
                    // duration in local time is shorter.
                    1..=3 => (change - 1800 - 60 * dice.roll(15), HOUR - 60 * dice.roll(15)),
                    // Before, within and after the repeated hour.
                    _ => (change + (dice.roll(26) - 13) * 600, dice.roll(12) * 600),
                };
                let at =
                    |seconds| PointInTime::Instant(jiff::Timestamp::from_second(seconds).unwrap());
                let schedule =
                    Schedule::new(zone.clone(), false, at(start), at(start + length)).unwrap();
                let (in_category, featured) = (dice.roll(2) == 0, dice.roll(2) == 0);
                let categories = if in_category { vec![category] } else { Vec::new() };
                let links = Links { categories, ..Links::default() };
                let event = plant(db, author, (start, start), &links, |event| {
                    event.schedule = schedule.clone();
                    event.featured = featured;
                })?;
                rows.push(Planted { id: event.id, schedule, in_category, featured });
            }
        }
        Ok(rows)
    };
    app.state.pools.write_blocking(planting).unwrap()
}

/// Returns a bound near the start or the end of an event, as an instant or a local time.
fn bound(dice: &mut Dice, rows: &[Planted]) -> i64 {
    let schedule = &dice.pick(rows).schedule;
    let clocks = [schedule.start_local, schedule.end_local, schedule.start_utc, schedule.end_utc];
    let near = match dice.roll(3) {
        0 => dice.roll(3) - 1,
        1 => (dice.roll(13) - 6) * 600,
        _ => dice.roll(4 * DAY) - 2 * DAY,
    };
    dice.pick(&clocks) + near
}

fn window(dice: &mut Dice, rows: &[Planted]) -> Window {
    let mut first = bound(dice, rows);
    let mut second = if dice.roll(2) == 0 { first + dice.roll(3) * 600 } else { bound(dice, rows) };
    if dice.roll(3) > 0 && first > second {
        std::mem::swap(&mut first, &mut second);
    }
    let (first, second) = (Some(first), Some(second));
    let limits = match dice.roll(6) {
        0 | 1 => Limits { start_min: first, end_max: second, ..Limits::default() },
        2 => Limits { end_min: first, start_max: second, ..Limits::default() },
        3 => Limits { end_min: first, start_max: second, touching: first, ..Limits::default() },
        4 => Limits { start_min: first, start_max: second, ..Limits::default() },
        _ => Limits { end_min: first, end_max: second, ..Limits::default() },
    };
    match dice.roll(4) {
        0 => Window { utc: limits, ..Window::default() },
        1 => {
            let mut window = Window::on_wall(limits);
            std::mem::swap(&mut window.wall.end_max, &mut window.utc.end_max);
            std::mem::swap(&mut window.wall.end_min, &mut window.utc.end_min);
            window
        }
        _ => Window::on_wall(limits),
    }
}

fn judged(rows: &[Planted], wanted: impl Fn(&Planted) -> bool) -> Vec<i64> {
    let mut found: Vec<&Planted> = rows.iter().filter(|row| wanted(row)).collect();
    found.sort_by_key(|row| (row.schedule.start_local, row.schedule.start_utc, row.id));
    found.iter().map(|row| row.id).collect()
}

#[actix_web::test]
async fn lists_near_clock_changes_match_a_naive_filter() {
    let app = App::new().await;
    let category = app.make("/categories", json!({"name": "Nights"})).await;
    let mut dice = Dice(0x6a09_e667_f3bc_c908);
    let rows = fill(&app, &mut dice, category);
    let reversed = rows.iter().filter(|row| row.schedule.end_local < row.schedule.start_local);
    assert!(reversed.count() > 20);
    let all = Paging { page: 1, per_page: 1000 };
    for round in 0..ROUNDS {
        let window = window(&mut dice, &rows);
        let context = format!("round {round}: {window:?}");
        let expect = |wanted: &dyn Fn(&Planted) -> bool| {
            let ids = judged(&rows, |row| holds(&window, &row.schedule) && wanted(row));
            let total = i64::try_from(ids.len()).unwrap();
            (ids, total)
        };
        let plain = EventFilter::plain(Scope::public(), window);
        let everything = expect(&|_| true);
        assert_eq!(app.list(&plain, all), everything, "{context}");
        let check = |db: &mut Db| -> Result<(), DatabaseError> {
            assert_eq!(page_with_included(db, app.access(), &plain, all)?, everything, "{context}");
            // The SQL statement used while the index is being built gives the same list.
            assert_eq!(list_by_statement(db, &plain, all)?, everything, "{context}");
            Ok(())
        };
        app.state.pools.read_blocking(check).unwrap();
        // A page near either end of the list.
        let total = usize::try_from(everything.1).unwrap();
        if total > 0 {
            let page = 1 + dice.roll(everything.1.div_euclid(7) + 1);
            let skip = usize::try_from(7 * (page - 1)).unwrap();
            let expected = everything.0[skip.min(total)..total.min(skip + 7)].to_vec();
            let paging = Paging { page, per_page: 7 };
            assert_eq!(app.list(&plain, paging), (expected, everything.1), "{context}");
        }
        let all_of_editor = Scope {
            published: true,
            unpublished: Unpublished::Of { author: None, statuses: None },
        };
        let privileged = EventFilter::plain(all_of_editor, window);
        assert_eq!(app.list(&privileged, all), everything, "{context}");
        let linked = EventFilter { categories: Some(vec![category]), ..plain.clone() };
        let in_category = expect(&|row| row.in_category);
        assert_eq!(app.list(&linked, all), in_category, "{context}");
        let featured = EventFilter { featured: Some(true), ..plain.clone() };
        assert_eq!(app.list(&featured, all), expect(&|row| row.featured), "{context}");
        let both = EventFilter { featured: Some(true), ..linked };
        let expected = expect(&|row| row.featured && row.in_category);
        assert_eq!(app.list(&both, all), expected, "{context}");
        let by_statement = app.state.pools.read_blocking(|db| list_by_statement(db, &both, all));
        assert_eq!(by_statement.unwrap(), expected, "{context}");
        let mut by_id = everything.0;
        by_id.sort_unstable();
        let by_id = (by_id, everything.1);
        let ordered = EventFilter { order: EventOrder::Id, ..plain };
        assert_eq!(app.list(&ordered, all), by_id, "{context}");
    }
}

#[actix_web::test]
async fn event_whose_local_end_precedes_its_start_is_listed() {
    let app = App::new().await;
    let id = app
        .event(json!({
            "timezone": "Europe/Vienna", "start_date": "2027-10-31T02:50:00+02:00",
            "end_date": "2027-10-31T02:10:00+01:00",
        }))
        .await;
    for query in [
        "start_date=2027-10-31&end_date=2027-10-31",
        "start_date=2027-10-31%2002:30&end_date=2027-10-31%2002:20&strict_dates=1",
        "start_date=2027-10-31%2002:30&end_date=2027-10-31%2002:40&strict_dates=1",
        "start_date=2027-10-31%2002:00&end_date=2027-10-31%2002:55&strict_dates=1&overlaps=1",
    ] {
        let list = app.get(&format!("/events?{query}")).await.expect(200);
        assert_eq!((list.ids(), &list.json["total"]), (vec![id], &json!(1)), "{query}");
    }
    let between =
        "start_date=2027-10-31%2002:20&end_date=2027-10-31%2002:40&strict_dates=1&overlaps=1";
    let list = app.get(&format!("/events?{between}")).await.expect(200);
    assert_eq!((list.ids(), &list.json["total"]), (vec![], &json!(0)));
}

#[actix_web::test]
async fn overlaps_matches_events_while_the_clock_is_set_back() {
    let app = App::new().await;
    let new_york = |start: &str, end: &str| json!({"timezone": "America/New_York", "start_date": start, "end_date": end});
    // At 06:00 UTC the clock is set back from 02:00 to 01:00.
    let hour = app.event(new_york("2028-11-05T05:30:00Z", "2028-11-05T06:30:00Z")).await;
    let reversed = app.event(new_york("2028-11-05T05:45:00Z", "2028-11-05T06:15:00Z")).await;
    let evening = app.event(new_york("2028-11-05T02:00:00Z", "2028-11-05T06:10:00Z")).await;
    let morning = app.event(new_york("2028-11-05T05:50:00Z", "2028-11-05T15:00:00Z")).await;
    for (from, to, expected) in [
        ("00:30", "00:40", vec![evening]),
        ("01:00", "01:05", vec![evening, hour, reversed, morning]),
        ("01:11", "01:14", vec![evening, hour, reversed, morning]),
        ("01:20", "01:25", vec![evening, hour, morning]),
        ("01:31", "01:40", vec![evening, hour, morning]),
        ("01:46", "01:49", vec![evening, hour, reversed, morning]),
        ("01:55", "01:59", vec![evening, hour, reversed, morning]),
        ("02:00", "02:30", vec![morning]),
    ] {
        let query = format!(
            "overlaps=true&strict_dates=1&start_date=2028-11-05%20{from}&end_date=2028-11-05%20{to}"
        );
        let list = app.get(&format!("/events?{query}")).await.expect(200);
        assert_eq!((list.ids(), &list.json["total"]), (expected.clone(), &json!(expected.len())));
    }
    let day = "/events?overlaps=true&start_date=2028-11-05&end_date=2028-11-05";
    assert_eq!(app.get(day).await.ids().len(), 4);
    // An event that ends exactly when the clock is set back does not show any hour twice.
    let until = app.event(new_york("2028-11-05T05:30:00Z", "2028-11-05T06:00:00Z")).await;
    for (from, to, is_found) in [("00:50", "01:10", false), ("01:40", "01:50", true)] {
        let query = format!(
            "overlaps=true&strict_dates=1&start_date=2028-11-05%20{from}&end_date=2028-11-05%20{to}"
        );
        let list = app.get(&format!("/events?{query}")).await.expect(200);
        assert_eq!(list.ids().contains(&until), is_found, "{from}");
    }
    let category = app.make("/categories", json!({"name": "Nights"})).await;
    let patch = json!({"categories": [category]});
    app.patch(&format!("/events/{reversed}"), &patch).await.expect(200);
    let query =
        "overlaps=true&strict_dates=1&start_date=2028-11-05%2001:50&end_date=2028-11-05%2001:52";
    let list = app.get(&format!("/events?categories={category}&{query}")).await.expect(200);
    assert_eq!(list.ids(), [reversed]);
}
