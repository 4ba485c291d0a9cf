//! Runs of subscriptions by two replicas, after a kill, and by commands.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use calendar::{State, remove_user, run_due_subscriptions};
use database::{DatabaseError, DatabaseSettings, Db};
use futures_util::join;
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Exchange, HttpPeer, PeerAnswer, Program, Served, until};

use crate::subscribing::{
    Subscribing, calendar as file, counts, event, file_of, ics, message, with_fetcher,
};

const KEY: &str = "0123456789abcdef0123456789abcdef";
const ROOT: &str = "/calendar/events/v1";

#[actix_web::test]
async fn two_replicas_run_each_subscription_once() {
    let club = Subscribing::new().await;
    club.answers(|request| ics(&file_of(&[&request.target.replace('/', "x")])));
    for number in 0..8 {
        club.subscribe_to(&club.peer.url(&format!("/{number}")), json!({})).await;
    }
    let other = with_fetcher(club.app.state.clone(), Duration::from_secs(30));
    let (first, second) = join!(run_due_subscriptions(&club.state), run_due_subscriptions(&other));
    assert_eq!((first + second, club.peer.requests().len()), (8, 8));
    assert_eq!(club.titles().await.len(), 8);
    assert_eq!(run_due_subscriptions(&other).await, 0);
}

#[actix_web::test]
async fn run_in_progress_is_not_begun_again_before_its_lease_ends() {
    let club = Subscribing::new().await;
    let (release, released) = mpsc::channel::<()>();
    let (gate, asked) = (Mutex::new(released), Arc::new(AtomicUsize::new(0)));
    let counted = asked.clone();
    club.answers(move |_| {
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            let _ = gate.lock().recv();
        }
        ics(&file_of(&["a"]))
    });
    let id = club.subscribe(json!({})).await;
    let other = with_fetcher(club.app.state.clone(), Duration::from_secs(30));
    let run = run_due_subscriptions(&club.state);
    let watch = async {
        while asked.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(club.shown(id).await["state"], "running");
        assert_eq!(run_due_subscriptions(&other).await, 0);
        // The first process hangs, its lease ends, and another one takes over.
        club.app.clock.advance(181);
        assert_eq!(run_due_subscriptions(&other).await, 1);
        assert_eq!(counts(&club.shown(id).await, "imported")[0], 1);
        drop(release);
    };
    join!(run, watch);
    assert_eq!((asked.load(Ordering::SeqCst), club.titles().await.len()), (2, 1));
    assert_eq!(counts(&club.shown(id).await, "imported")[0], 1);
}

#[actix_web::test]
async fn run_that_was_taken_over_writes_nothing() {
    let club = Subscribing::new().await;
    let (release, released) = mpsc::channel::<()>();
    let (gate, asked) = (Mutex::new(released), Arc::new(AtomicUsize::new(0)));
    let counted = asked.clone();
    club.answers(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => {
            let _ = gate.lock().recv();
            ics(&file_of(&["late"]))
        }
        _ => ics(&file_of(&["a"])),
    });
    let id = club.subscribe(json!({})).await;
    let watch = async {
        while asked.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        // An editor pauses and resumes it; another replica runs it.
        club.step(id, "pause").await;
        club.step(id, "resume").await;
        let shown = club.run(id).await;
        drop(release);
        shown
    };
    let (_, shown) = join!(run_due_subscriptions(&club.state), watch);
    assert_eq!(counts(&shown, "imported")[0], 1);
    assert_eq!(club.titles().await, ["a"]);
    assert_eq!(club.shown(id).await["last_run"], shown["last_run"]);
}

#[actix_web::test]
async fn results_of_a_former_address_do_not_count_for_a_new_one() {
    let club = Subscribing::new().await;
    let (release, released) = mpsc::channel::<()>();
    let (gate, asked) = (Mutex::new(released), Arc::new(AtomicUsize::new(0)));
    let counted = asked.clone();
    club.answers(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => PeerAnswer::Full(500, Vec::new(), Vec::new()),
        1 => {
            let _ = gate.lock().recv();
            ics(&file_of(&["former"]))
        }
        _ => ics(&file_of(&["new"])),
    });
    let id = club.subscribe(json!({})).await;
    assert_eq!(club.run(id).await["failures"], 1);
    club.step(id, "run").await;
    // The address changes while the file at the former one is being fetched.
    let watch = async {
        while asked.load(Ordering::SeqCst) == 1 {
            tokio::task::yield_now().await;
        }
        let (item, url) = (format!("/subscriptions/{id}"), club.peer.url("/new.ics"));
        let changed = club.app.call("editor", "PATCH", &item, &json!({"url": url})).await;
        drop(release);
        changed.expect(200).json
    };
    let (_, changed) = join!(run_due_subscriptions(&club.state), watch);
    assert_eq!((&changed["state"], &changed["failures"]), (&json!("active"), &json!(0)));
    assert_eq!(changed["last_run"], Value::Null);
    assert_eq!(counts(&club.shown(id).await, "imported")[0], 1);
    assert_eq!(club.titles().await, ["new"]);
}

#[actix_web::test]
async fn run_whose_author_is_removed_starts_again_as_the_heir() {
    let club = Subscribing::new().await;
    let (release, released) = mpsc::channel::<()>();
    let (gate, asked) = (Mutex::new(released), Arc::new(AtomicUsize::new(0)));
    let counted = asked.clone();
    club.answers(move |_| {
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            let _ = gate.lock().recv();
        }
        ics(&file_of(&["a"]))
    });
    let id = club.subscribe(json!({"author": club.app.user("author")})).await;
    let watch = async {
        while asked.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let removed = remove_user(&club.state.pools, ("author", "author2"), 0);
        drop(release);
        removed.unwrap();
    };
    join!(run_due_subscriptions(&club.state), watch);
    let shown = club.shown(id).await;
    assert_eq!((counts(&shown, "imported")[0], &shown["failures"]), (1, &json!(0)));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let path = format!("/events/{}", club.event_of("a"));
    let author = club.app.get(&path).await.expect(200).json["author"].clone();
    assert_eq!(author, club.app.user("author2").to_string());
}

#[actix_web::test]
async fn long_write_delays_the_look_for_due_subscriptions() {
    let club = Subscribing::new().await;
    club.serves(&file_of(&["a"]));
    club.subscribe(json!({})).await;
    let database = &club.app.database;
    let settings = DatabaseSettings { db_pool: 1, db_wait_ms: 200, ..database.settings() };
    let pools = settings
        .open(database.folder(), "test", &[&auth::MIGRATIONS, &calendar::MIGRATIONS])
        .unwrap();
    // Opening the connection may take longer than requests wait on a busy machine.
    pools.read_blocking(|_| Ok::<_, DatabaseError>(())).unwrap();
    let state = State { pools: pools.clone(), ..club.state.clone() };
    let (release, released) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel::<()>();
    let write = std::thread::spawn(move || {
        pools.write_blocking(|db| {
            calendar::Sql::new(db, "update subscriptions set failures = 0").execute(db)?;
            begun.send(()).unwrap();
            let _ = released.recv();
            Ok::<_, DatabaseError>(())
        })
    });
    begins.recv().unwrap();
    let watch = async {
        // A request that comes later is refused.
        let update = |db: &mut Db| {
            calendar::Sql::new(db, "update subscriptions set failures = 0").execute(db)
        };
        let refused = state.pools.write(update).await;
        assert!(refused.is_err_and(|error| error.is_busy()));
        drop(release);
    };
    let (runs, ()) = join!(run_due_subscriptions(&state), watch);
    assert_eq!((runs, club.titles().await), (1, vec!["a".to_owned()]));
    write.join().unwrap().unwrap();
}

fn program() -> Program {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).with_database();
    let program = program.setting("ADMIN_KEY", KEY).setting("SUBSCRIPTION_ALLOW_PRIVATE", "on");
    program.setting("RATE_READ_RPM", "0").setting("RATE_WRITE_RPM", "0")
}

async fn read(server: &Served, path: &str) -> Value {
    let request = server.request(Method::GET, &format!("{ROOT}{path}")).bearer_auth(KEY);
    request.answer().await.expect(200).json()
}

#[actix_web::test]
async fn killed_run_is_completed_by_the_next_process_without_duplicates() {
    const EVENTS: usize = 300;
    let events: Vec<String> = (0..EVENTS)
        .map(|n| event(&format!("e{n}"), 5, "").replace("DTSTART:2027", "DTSTART:2047"))
        .collect();
    let events: Vec<String> =
        events.iter().map(|one| one.replace("DTEND:2027", "DTEND:2047")).collect();
    let text = file(&events);
    let peer = HttpPeer::start(move |_| ics(&text));
    let program = program();
    let added = program.done(&["subscriptions", "add", &peer.url("/club.ics")]);
    assert_eq!(added.trim(), "1");
    let count = async |server: &Served| read(server, "/subscriptions/1").await["events"].clone();
    let mut first = program.serve(&[]);
    until("some events are written", async || {
        count(&first).await.as_u64().is_some_and(|n| n > 0 && n < EVENTS as u64)
    })
    .await;
    assert!(!first.process().kill());
    drop(first);
    // The time of the lease passes.
    let pools = program.database().open(&[&auth::MIGRATIONS, &calendar::MIGRATIONS]);
    let end = |db: &mut Db| {
        calendar::Sql::new(db, "update subscriptions set lease_until = 0").execute(db)
    };
    assert_eq!(pools.write_blocking(end).unwrap(), 1);
    drop(pools);
    let second = program.serve(&[]);
    until("the run ends", async || {
        read(&second, "/subscriptions/1").await["last_run"]["outcome"] == "imported"
    })
    .await;
    let shown = read(&second, "/subscriptions/1").await;
    let total = read(&second, "/events?start_date=2047-01-01&end_date=2048-01-01").await;
    assert_eq!((&shown["events"], &total["total"]), (&json!(EVENTS), &json!(EVENTS)));
    let run = &shown["last_run"];
    assert!(run["unchanged"].as_u64().unwrap() > 0, "{run}");
    assert_eq!(peer.requests().len(), 2);
    until("the metrics count it", async || {
        second.metric("calendar_subscription_runs_total{outcome=\"imported\"}").await == 1.0
    })
    .await;
}

#[test]
fn commands_manage_and_run_subscriptions() {
    let answer = Arc::new(Mutex::new(file_of(&["a", "b"])));
    let served = answer.clone();
    let peer = HttpPeer::start(move |_| ics(&served.lock().replace(":2027", ":2047")));
    let program = program();
    let url = peer.url("/club.ics");
    let added = program.json(&["subscriptions", "add", &url, "--interval", "30"]);
    assert_eq!((&added["id"], &added["interval"]), (&json!(1), &json!(30)));
    let refused = program.run(&["subscriptions", "add", &url]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.errors.contains("url must not be the address of subscription 1"),
        "{}",
        refused.errors
    );
    let ran = program.done(&["subscriptions", "run", "1"]);
    assert_eq!(
        ran,
        "imported: 2 created, 0 updated, 0 unchanged, 0 skipped, 0 failed, 0 trashed\n"
    );
    let listed = program.done(&["subscriptions", "list"]);
    assert!(
        listed.starts_with("1\tactive\t2") && listed.ends_with(&format!("\t2\t{url}\n")),
        "{listed}"
    );
    *answer.lock() = file_of(&[]);
    let stopped = program.run(&["subscriptions", "run", "1"]);
    assert_eq!(stopped.code, Some(1));
    assert!(
        stopped.errors.contains("2 of 2 future events are missing from the file"),
        "{}",
        stopped.errors
    );
    program.done(&["subscriptions", "accept", "1"]);
    let run = program.json(&["subscriptions", "run", "1"]);
    assert_eq!((&run["outcome"], &run["trashed"]), (&json!("imported"), &json!(2)));
    program.done(&["subscriptions", "change", "1", "--interval", "45", "--status", "draft"]);
    program.done(&["subscriptions", "pause", "1"]);
    let shown = program.json(&["subscriptions", "show", "1"]);
    assert_eq!((&shown["state"], &shown["interval"]), (&json!("paused"), &json!(45)));
    let refused = program.run(&["subscriptions", "run", "1"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("is paused: resume it first"), "{}", refused.errors);
    program.done(&["subscriptions", "resume", "1"]);
    let wrong = program.run(&["subscriptions", "release", "1", "--event", "99"]);
    assert!(
        wrong.errors.contains("event must be the id of an event in the subscription"),
        "{}",
        wrong.errors
    );
    program.done(&["subscriptions", "remove", "1"]);
    assert_eq!(program.done(&["subscriptions", "list"]), "");
    for command in ["show", "run", "pause"] {
        let missing = program.run(&["subscriptions", command, "1"]);
        assert_eq!(missing.code, Some(1), "{command}");
    }
}

#[actix_web::test]
async fn endless_series_gets_new_occurrences_every_day() {
    let club = Subscribing::new().await;
    club.serves(&file(&[event("s", 3, "RRULE:FREQ=MONTHLY\r\n")]));
    let id = club.subscribe(json!({})).await;
    let before = club.run(id).await["events"].as_i64().unwrap();
    club.app.clock.advance(90 * 86_400);
    let shown = club.run(id).await;
    assert!(shown["events"].as_i64().unwrap() > before, "{}", message(&shown));
}

#[actix_web::test]
async fn slow_answer_of_one_site_does_not_delay_others() {
    let club = Subscribing::new().await;
    let (release, released) = mpsc::channel::<()>();
    let gate = Mutex::new(released);
    let hanging = HttpPeer::start(move |_| {
        let _ = gate.lock().recv();
        PeerAnswer::Close
    });
    club.serves(&file_of(&["a"]));
    club.subscribe_to(&hanging.url("/"), json!({})).await;
    let id = club.subscribe(json!({})).await;
    let watch = async {
        until("the other is imported", async || {
            club.shown(id).await["last_run"]["outcome"] == "imported"
        })
        .await;
        drop(release);
    };
    join!(run_due_subscriptions(&club.state), watch);
}

#[actix_web::test]
async fn run_requested_during_another_one_follows_it() {
    // The requests come in the second in which the run in progress was due, or later.
    for (later, requests) in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 3)] {
        let club = Subscribing::new().await;
        let (release, released) = mpsc::channel::<()>();
        let (gate, asked) = (Mutex::new(released), Arc::new(AtomicUsize::new(0)));
        let counted = asked.clone();
        club.answers(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
            0 => {
                let _ = gate.lock().recv();
                ics(&file_of(&["a"]))
            }
            _ => ics(&file_of(&["a", "b"])),
        });
        let id = club.subscribe(json!({})).await;
        let watch = async {
            while asked.load(Ordering::SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
            club.app.clock.advance(later);
            for _ in 0..requests {
                assert_eq!(club.step(id, "run").await["state"], "running");
            }
            drop(release);
        };
        join!(run_due_subscriptions(&club.state), watch);
        club.app.clock.advance(1);
        run_due_subscriptions(&club.state).await;
        let runs = (asked.load(Ordering::SeqCst), club.titles().await.len());
        assert_eq!(runs, (2, 2), "{later} {requests}");
        // It is done once.
        club.app.clock.advance(1);
        assert_eq!(run_due_subscriptions(&club.state).await, 0);
    }
}

#[actix_web::test]
async fn subscription_runs_while_the_site_of_another_one_hangs() {
    let (release, released) = mpsc::channel::<()>();
    let gate = Mutex::new(released);
    let hanging = HttpPeer::start(move |_| {
        let _ = gate.lock().recv();
        PeerAnswer::Close
    });
    let peer = HttpPeer::start(|_| ics(&file_of(&["a"])));
    let program = program().setting("SUBSCRIPTION_TIME_S", "600");
    assert_eq!(program.done(&["subscriptions", "add", &hanging.url("/")]).trim(), "1");
    let server = program.serve(&[]);
    until("the first site is asked", async || !hanging.requests().is_empty()).await;
    let request = server.request(Method::POST, &format!("{ROOT}/subscriptions")).bearer_auth(KEY);
    let added = request.json(&json!({"url": peer.url("/club.ics")})).answer().await;
    assert_eq!(added.status, 201);
    until("the other is imported", async || {
        read(&server, "/subscriptions/2").await["last_run"]["outcome"] == "imported"
    })
    .await;
    assert_eq!(read(&server, "/subscriptions/1").await["state"], "running");
    drop(release);
}
