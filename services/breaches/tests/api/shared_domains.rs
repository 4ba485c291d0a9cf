//! Domains with several controllers, one of whom gives up control.

use breaches::store::schema::{domain_counted, suppressed_link};
use breaches::store::{domain_inheritance, subscribers};
use database::{DatabaseError, Db, Pools};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use domain::{DomainName, EmailAddress};
use serde_json::json;
use testkit::until_blocking;

use crate::app::{App, NOW, entry};
use crate::commands::Operator;

const FIRST: &str = "boss@example.org";
const SECOND: &str = "second@example.org";
const DOMAIN: &str = "corp.example";

fn revoke(db: &mut Db, email: &str) -> Result<(), DatabaseError> {
    let email = EmailAddress::parse(email).unwrap();
    let subscriber = subscribers::id(db, &email)?.ok_or(DatabaseError::NotFound)?;
    domain_inheritance::revoke(db, subscriber, DOMAIN)
}

/// Returns the domains with counts, and those with suppressed links.
fn state(db: &mut Db) -> Result<(Vec<String>, Vec<String>), DatabaseError> {
    let counted =
        domain_counted::table.select(domain_counted::domain).order(domain_counted::domain);
    let silent = suppressed_link::table.select(suppressed_link::domain);
    Ok((counted.load(db)?, silent.order(suppressed_link::domain).load(db)?))
}

#[actix_web::test]
async fn notice_state_goes_with_the_last_controller_and_only_its_own() {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    app.import(&json!([entry("Alpha")])).await;
    for email in [FIRST, SECOND] {
        app.subscriber(email, "pro1").await;
        app.verify(email, DOMAIN).await;
    }
    app.verify(FIRST, "other.example").await;
    app.load_as("Alpha", "ada@corp.example\nbob@other.example\n", true).await;
    app.change(|db| revoke(db, FIRST)).await;
    let both = || vec![DOMAIN.to_owned(), "other.example".to_owned()];
    assert_eq!(app.change(state).await, (both(), both()));
    app.change(|db| revoke(db, SECOND)).await;
    let other = || vec!["other.example".to_owned()];
    assert_eq!(app.change(state).await, (other(), other()));
}

/// Returns the number of transactions that are waiting for a lock in the database.
fn waiting(pools: &Pools) -> i64 {
    #[derive(QueryableByName)]
    struct Waiting {
        #[diesel(sql_type = BigInt)]
        count: i64,
    }
    let query = "SELECT count(*) AS count FROM pg_locks WHERE NOT granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let mut db = pools.connect().unwrap();
    let Db::Pg(conn) = &mut db else { return 0 };
    diesel::sql_query(query).get_result::<Waiting>(conn).unwrap().count
}

#[test]
fn notice_state_is_kept_if_another_controller_is_verified_meanwhile() {
    let operator = Operator::new();
    let open = || operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let (pools, verifying, revoking) = (open(), open(), open());
    let mut lock = pools.connect().unwrap();
    let Db::Pg(conn) = &mut lock else {
        return; // SQLite has one writer at a time.
    };
    for email in [FIRST, SECOND] {
        operator.run(&["subscriber", "add", email]);
    }
    operator.run(&["domain", "verify", FIRST, DOMAIN]);
    // Prevents the verification from finishing.
    conn.batch_execute("BEGIN; LOCK TABLE admin_event IN ACCESS EXCLUSIVE MODE").unwrap();
    std::thread::scope(|scope| {
        let second = EmailAddress::parse(SECOND).unwrap();
        let name = DomainName::parse(DOMAIN).unwrap();
        let verified =
            scope.spawn(move || breaches::verify_domain(&verifying, &second, &name, NOW).unwrap());
        until_blocking("the verification waits", || waiting(&pools) == 1);
        let revoked = scope.spawn(move || revoking.write_blocking(|db| revoke(db, FIRST)));
        until_blocking("the revocation waits or ends", || {
            revoked.is_finished() || waiting(&pools) == 2
        });
        conn.batch_execute("COMMIT").unwrap();
        verified.join().unwrap();
        revoked.join().unwrap().unwrap();
    });
    assert_eq!(pools.read_blocking(state).unwrap().0, [DOMAIN]);
}
