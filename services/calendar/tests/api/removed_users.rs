//! Removal of users.

use calendar::{Inherited, Role, UserError, change_role, create_user, remove_user};
use domain::Clock;
use serde_json::json;
use testkit::{Program, until};

use crate::app::{App, send};
use crate::images::PNG;

#[actix_web::test]
async fn heir_gets_everything_and_keys_are_revoked() {
    let app = App::new().await;
    let live = app.event_as("author", json!({"title": "Live"})).await;
    let draft = app.event_as("author", json!({"status": "draft"})).await;
    let trashed = app.event_as("author", json!({"title": "Gone"})).await;
    app.delete(&format!("/events/{trashed}")).await.expect(200);
    for number in 0..120 {
        app.event_as("author", json!({"title": format!("Show {number}")})).await;
    }
    let venue = app.call("author", "POST", "/venues", &json!({"venue": "Hall"})).await.id();
    let organizer = app.call("author", "POST", "/organizers", &json!({"organizer": "Ann"})).await;
    let upload = app.request("author", "POST", "/images").header("Content-Type", "image/png");
    let image = send(upload.body(PNG)).await.expect(201).id();
    let drafts = "/events?status=draft";
    assert_eq!(app.get_as("author2", drafts).await.ids(), [0; 0]);
    app.clock.advance(60);

    let given = remove_user(&app.state.pools, ("author", "author2"), app.clock.unix()).unwrap();
    let all = Inherited { events: 123, venues: 1, organizers: 1, images: 1 };
    assert_eq!(given, all);
    // The index and mirrors get the new author.
    assert_eq!(app.get_as("author2", drafts).await.ids(), [draft]);
    let shown = app.get(&format!("/events/{live}")).await.expect(200).json;
    assert_eq!(shown["author"], json!(app.user("author2").to_string()));
    let changes = app.get("/events?modified_after=2027-03-10T12:00:30Z").await.json;
    assert_eq!(changes["total"], 121);
    for path in [
        format!("/events/{live}"),
        format!("/events/{draft}"),
        format!("/venues/{venue}"),
        format!("/organizers/{}", organizer.id()),
    ] {
        app.call("author2", "PATCH", &path, &json!({"description": "Mine"})).await.expect(200);
    }
    app.get_as("author2", &format!("/images/{image}")).await.expect(200);
    for table in ["events", "venues", "organizers", "images", "event_tombstones"] {
        let left = format!("{table} where author_id = {}", app.user("author"));
        assert_eq!(app.rows(&left), 0, "{table}");
    }
    assert_eq!(app.rows("users where login = 'author'"), 0);
    assert_eq!(app.rows("api_key where owner = 'author' and revoked_at is null"), 0);
    // Trashed resources keep their date.
    assert_eq!(app.rows("events where status = 'trash' and modified_utc = 1804680000"), 1);
}

#[actix_web::test]
async fn repeated_removal_does_the_rest_after_a_kill() {
    let app = App::new().await;
    let mine = app.event_as("author", json!({})).await;
    let now = app.clock.unix();
    // The first transaction has revoked the keys.
    app.state.pools.write_blocking(|db| auth::revoke_owner(db, "author", now)).unwrap();
    let given = remove_user(&app.state.pools, ("author", "editor"), now).unwrap();
    assert_eq!(given, Inherited { events: 1, ..Inherited::default() });
    let shown = app.get(&format!("/events/{mine}")).await.json;
    assert_eq!(shown["author"], json!(app.user("editor").to_string()));
    let again = remove_user(&app.state.pools, ("author", "editor"), now);
    assert!(matches!(again, Err(UserError::Unknown(login)) if login == "author"));
    // Servers that have cached the key reject it soon.
    until("the key is refused", async || app.get_as("author", "/events").await.status == 401).await;
}

#[actix_web::test]
async fn administrators_removed_at_the_same_time_leave_one() {
    let app = App::new().await;
    let (pools, now) = (&app.state.pools, app.clock.unix());
    change_role(pools, "editor", Role::Administrator).unwrap();
    // The first removal has begun, and cannot delete the user yet.
    app.execute("create table held (user_id bigint not null references users (id))");
    let id = app.user("administrator");
    app.execute(&format!("insert into held (user_id) values ({id})"));
    let first = remove_user(pools, ("administrator", "author"), now);
    assert!(matches!(first, Err(UserError::Failed(_))), "{first:?}");
    let second = remove_user(pools, ("editor", "author"), now);
    assert!(matches!(second, Err(UserError::LastAdministrator(_))), "{second:?}");
    let demoted = change_role(pools, "editor", Role::Author);
    assert!(matches!(demoted, Err(UserError::LastAdministrator(_))), "{demoted:?}");
    app.execute("drop table held");
    remove_user(pools, ("administrator", "author"), now).unwrap();
    assert_eq!(app.rows("users where login = 'administrator'"), 0);
    assert_eq!(app.rows("users where role = 'administrator'"), 1);
}

#[actix_web::test]
async fn new_user_does_not_get_the_keys_of_a_removed_one() {
    let app = App::new().await;
    let (pools, now) = (&app.state.pools, app.clock.unix());
    remove_user(pools, ("author", "author2"), now).unwrap();
    // Another process had found the user before the removal, and issues the key after it.
    pools.write_blocking(|db| auth::issue(db, "author", None, None, now)).unwrap();
    let live = "api_key where owner = 'author' and revoked_at is null";
    assert_eq!(app.rows(live), 1);
    create_user(pools, "author", Role::Editor, now).unwrap();
    assert_eq!(app.rows(live), 0);
}

#[test]
fn users_remove_reports_what_it_gave_and_keeps_the_last_administrator() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).with_database();
    program.done(&["users", "add", "ann", "--role", "author"]);
    for (login, heir, message) in [
        ("bob", "ann", "user bob does not exist"),
        ("ann", "bob", "user bob does not exist"),
        ("ann", "ann", "a user's items cannot be given to the same user; choose another login"),
        ("admin", "ann", "admin is the only administrator; give another user this role first"),
    ] {
        let refused = program.run(&["users", "remove", login, "--give-to", heir]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.errors.contains(message), "{}", refused.errors);
    }
    let refused = program.run(&["users", "set-role", "admin", "--role", "editor"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("admin is the only administrator"), "{}", refused.errors);
    let event = json!({
        "type": "event", "title": "Show", "start_date": "+1 day", "end_date": "+1 day"
    });
    program.pipe(&["load", "-"], event.to_string().as_bytes()).done();
    program.done(&["users", "set-role", "ann", "--role", "administrator"]);
    let removed = program.run(&["users", "remove", "admin", "--give-to", "ann"]);
    assert!(removed.errors.contains("admin removed; ann now owns 1 events"), "{}", removed.errors);
    assert_eq!(program.done(&["users", "list"]), "id\tlogin\trole\n2\tann\tadministrator\n");
}
