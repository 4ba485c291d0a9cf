//! Looks up the sequence numbers of accounts that a transaction has linked.

use database::{DatabaseError, Db};

use super::changes::Stored;
use super::{postgres, sqlite};
use crate::store::accounts::new_account::{NewAccount, NewLink};

/// Returns the links whose accounts are in the table, along with the accounts' sequence numbers.
/// The links must be sorted by key, and keep their order.
pub fn with_sequence<'a>(
    db: &mut Db,
    links: &[NewLink<'a>],
) -> Result<Vec<(NewLink<'a>, i16)>, DatabaseError> {
    let mut found = Vec::with_capacity(links.len());
    let size = match db {
        Db::Sqlite(_) => sqlite::GROUP,
        Db::Pg(_) => postgres::GROUP,
    };
    for group in links.chunks(size) {
        let accounts: Vec<NewAccount<'_>> = group.iter().map(|link| link.account).collect();
        let stored = match db {
            Db::Sqlite(conn) => sqlite::with_keys(conn, &accounts)?,
            Db::Pg(conn) => postgres::with_keys(conn, &accounts)?,
        };
        let numbered = |link: &NewLink<'a>| Some((*link, find(link.account, &stored)?));
        found.extend(group.iter().filter_map(numbered));
    }
    Ok(found)
}

/// Finds an account's number in stored accounts, which must be sorted by key.
fn find(account: NewAccount<'_>, stored: &[Stored]) -> Option<i16> {
    let first = stored.partition_point(|row| row.k < account.k);
    let mut same_key = stored[first..].iter().take_while(|row| row.k == account.k);
    same_key
        .find(|row| row.domain_id == account.domain_id && row.local == account.local)
        .map(|row| row.seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::accounts::{AccountWriter, Linked, placement_in_table};
    use crate::store::mail_domains;

    #[test]
    fn each_link_gets_the_number_of_its_own_account() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let found = pools.write_blocking(|db| {
            let ids = mail_domains::ids(db, &["a.example", "b.example"])?;
            let account = |k, local, domain: &str| {
                let domain_id = ids[domain];
                NewAccount { k, domain_id, local, breaches: &[] }
            };
            let stored = [
                account(7, "ada", "a.example"),
                account(7, "bob", "a.example"),
                account(7, "ada", "b.example"),
                account(8, "eve", "a.example"),
            ];
            let mut linked = Linked::default();
            let placement = placement_in_table(db)?;
            let mut writer = AccountWriter::new(db, placement, false)?;
            writer.write(db, &stored, &mut linked)?;
            writer.finish(db, &mut linked)?;
            let [ada, bob, other_ada, eve] = stored;
            let links = [ada, ada, other_ada, account(7, "eve", "a.example"), bob, eve];
            let links: Vec<NewLink<'_>> =
                (1..).zip(links).map(|(other_id, account)| NewLink { account, other_id }).collect();
            with_sequence(db, &links).map(|found| {
                found.iter().map(|(link, seq)| (link.other_id, *seq)).collect::<Vec<_>>()
            })
        });
        assert_eq!(found.unwrap(), [(1, 0), (2, 0), (3, 2), (5, 1), (6, 0)]);
    }
}
