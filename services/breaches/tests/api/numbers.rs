//! Ids that logs, queues and other tables refer to are not reused.

use breaches::store::{blocks, breaches as catalogue, domain_controls, schema, subscribers};
use database::{DatabaseError, Db};
use diesel::{ExpressionMethods, QueryDsl, RunQueryDsl};
use domain::EmailAddress;
use serde_json::json;

use crate::app::{App, NOW, entry};

/// Selects the highest id in a table.
macro_rules! last {
    ($db:expr, $table:ident) => {{
        use schema::$table::dsl::{id, $table as table};
        table.select(id).order(id.desc()).first::<i64>($db)?
    }};
}

/// Tables with the id of a removed row and the id of the row that was added next.
type Numbers = Vec<(&'static str, i64, i64)>;

fn subscriber(db: &mut Db, email: &str) -> Result<i64, DatabaseError> {
    subscribers::add(db, &EmailAddress::parse(email).unwrap(), NOW)
}

fn webhook(db: &mut Db, owner: i64) -> Result<i64, DatabaseError> {
    breaches::store::webhooks::add(db, owner, "http://hook.example/x", "whsec_", NOW)?;
    Ok(last!(db, webhook))
}

fn message(db: &mut Db, owner: i64) -> Result<i64, DatabaseError> {
    let row = (
        schema::outbox::key.eq("key"),
        schema::outbox::subscriber_id.eq(owner),
        schema::outbox::payload.eq("{}"),
        schema::outbox::created_at.eq(NOW),
        schema::outbox::next_try.eq(NOW),
        schema::outbox::tries.eq(0),
    );
    diesel::insert_into(schema::outbox::table).values(row).execute(db)?;
    Ok(last!(db, outbox))
}

fn assigned(db: &mut Db) -> Result<Numbers, DatabaseError> {
    let mut assigned = Vec::new();
    let owner = subscriber(db, "owner@example.org")?;

    let first = webhook(db, owner)?;
    breaches::store::webhooks::remove(db, owner, "http://hook.example/x")?;
    assigned.push(("webhook", first, webhook(db, owner)?));

    let first = message(db, owner)?;
    diesel::delete(schema::outbox::table.find(first)).execute(db)?;
    assigned.push(("outbox", first, message(db, owner)?));

    domain_controls::begin(db, owner, "corp.example", "code")?;
    let first = last!(db, domain_control);
    diesel::delete(schema::domain_control::table.find(first)).execute(db)?;
    domain_controls::begin(db, owner, "corp.example", "code")?;
    assigned.push(("domain_control", first, last!(db, domain_control)));

    let first = subscriber(db, "gone@example.org")?;
    diesel::delete(schema::subscriber::table.find(first)).execute(db)?;
    assigned.push(("subscriber", first, subscriber(db, "next@example.org")?));

    let first = blocks::add(db, None, Some("bot"), None, NOW)?;
    blocks::remove(db, first)?;
    assigned.push(("block", first, blocks::add(db, None, Some("other bot"), None, NOW)?));
    Ok(assigned)
}

#[actix_web::test]
async fn numbers_of_removed_rows_are_not_reused() {
    let app = App::start().await;
    let mut assigned = app.change(assigned).await;
    let (first, context) = (app.change(|db| Ok(last!(db, paste))).await, &app.context);
    breaches::jobs::remove_test(context).unwrap();
    breaches::jobs::seed_test(context, false).unwrap();
    assigned.push(("paste", first, app.change(|db| Ok(last!(db, paste))).await));
    app.import(&json!([entry("Alpha")])).await;
    let alpha = app.change(|db| {
        let id = catalogue::by_name(db, "Alpha")?.unwrap().id;
        catalogue::delete(db, id)?;
        Ok(id)
    });
    let alpha = alpha.await;
    app.import(&json!([entry("Beta")])).await;
    let beta = app.change(|db| Ok(catalogue::by_name(db, "Beta")?.unwrap().id)).await;
    assigned.push(("breach", alpha.into(), beta.into()));
    for (table, removed, next) in assigned {
        assert!(next > removed, "{table}: {next} after {removed}");
    }
}
