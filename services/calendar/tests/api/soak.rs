//! Sixteen concurrent writers and sixteen concurrent readers: no failure and no lost update.
//!
//! The suite runs a few rounds. `SOAK_SECONDS=60` continues for a minute.

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use crate::app::App;

const WRITERS: usize = 16;
const READERS: usize = 16;

/// Minimum number of rounds of each writer and reader.
const ROUNDS: usize = 6;

/// Fields of the shared events. Each belongs to one writer.
const FIELDS: [&str; 4] = ["title", "description", "excerpt", "website"];

/// Returns for how long to continue after the minimum number of rounds.
fn duration() -> Duration {
    let seconds = std::env::var("SOAK_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0))
}

fn value(field: &str, round: usize) -> String {
    match field {
        "website" => format!("https://example.org/{round}"),
        _ => format!("{field}-{round}"),
    }
}

/// Counts of the responses.
#[derive(Default)]
struct Seen {
    created: Cell<i64>,
    trashed: Cell<i64>,
    reads: Cell<i64>,
}

fn one_more(cell: &Cell<i64>) {
    cell.set(cell.get() + 1);
}

/// Runs one round of a writer: creates an event, moves it, and sets the writer's field of a shared
/// event. Every third event is trashed.
async fn write(app: &App, shared: i64, number: usize, round: usize, seen: &Seen) {
    let body = json!({
        "title": format!("w{number}"), "tags": [format!("t{}", round % 3)],
        "venue": {"venue": format!("v{}", number % 4)},
    });
    let path = format!("/events/{}", app.event(body).await);
    one_more(&seen.created);
    let later = json!({"start_date": format!("2027-04-0{} 09:00", round % 8 + 1)});
    app.patch(&path, &later).await.expect(200);

    let field = FIELDS[number % FIELDS.len()];
    let path_of_shared = format!("/events/{shared}");
    app.patch(&path_of_shared, &json!({ field: value(field, round) })).await.expect(200);
    let shown = app.get(&path_of_shared).await.expect(200).json;
    let text = shown[field].as_str().unwrap();
    assert!(text.contains(&value(field, round)), "writer {number} lost {field}: {text}");

    if round.is_multiple_of(3) {
        app.delete(&path).await.expect(200);
        one_more(&seen.trashed);
    }
}

/// Reads a list once and checks that it is consistent.
async fn read(app: &App, number: usize, round: usize, seen: &Seen) {
    const PATHS: [&str; 5] =
        ["/events", "/venues", "/tags?hide_empty=0", "/events?search=w1", "/events?tags=t0"];
    let answer = app.get(PATHS[(number + round) % PATHS.len()]).await.expect(200);
    let (total, pages) = (&answer.json["total"], &answer.json["total_pages"]);
    assert_eq!(pages.as_i64().unwrap(), (total.as_i64().unwrap() + 9) / 10);
    one_more(&seen.reads);
}

async fn repeat<F: Future<Output = ()>>(end: Instant, work: impl Fn(usize) -> F) -> usize {
    let mut round = 0;
    while round < ROUNDS || Instant::now() < end {
        work(round).await;
        round += 1;
    }
    round
}

#[actix_web::test]
async fn concurrent_readers_and_writers_see_no_failure() {
    let app = App::new().await;
    let seen = Seen::default();
    let mut shared = Vec::new();
    for number in 0..WRITERS / FIELDS.len() {
        shared.push(app.event(json!({"title": format!("s{number}"), "tags": ["t0"]})).await);
    }
    let end = Instant::now() + duration();
    let (app_ref, seen_ref, shared_ref) = (&app, &seen, &shared);
    let writers = (0..WRITERS).map(|number| {
        repeat(end, move |round| {
            write(app_ref, shared_ref[number / FIELDS.len()], number, round, seen_ref)
        })
    });
    let readers =
        (0..READERS).map(|number| repeat(end, move |round| read(app_ref, number, round, seen_ref)));
    let (rounds, _) = join(join_all(writers), join_all(readers)).await;

    for (number, rounds) in rounds.into_iter().enumerate() {
        let field = FIELDS[number % FIELDS.len()];
        let event = app.get(&format!("/events/{}", shared[number / FIELDS.len()])).await.json;
        assert!(event[field].as_str().unwrap().contains(&value(field, rounds - 1)), "{field}");
    }
    let left = seen.created.get() - seen.trashed.get() + i64::try_from(shared.len()).unwrap();
    assert_eq!(app.get("/events").await.json["total"], left);
    let tags = app.get("/tags").await.json;
    let count = |tag: &Value| tag["count"].as_i64().unwrap();
    assert_eq!(tags["tags"].as_array().unwrap().iter().map(count).sum::<i64>(), left);
    assert_eq!(app.rows("venues"), 4);
    eprintln!("{} events created, {} reads", seen.created.get(), seen.reads.get());
}
