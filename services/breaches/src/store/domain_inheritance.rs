//! Domains inherited from a verified parent.
//!
//! The caller must hold the subscriber's lock. Otherwise, decisions made here could be out of date
//! by the time they're saved.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::domain_controls::{NO_ROOM, REMOVED, VERIFIED, forget_lost, larger_domains};
use super::schema::domain_control;
use super::{mail_domains, turns};
use crate::model::domain_size::FREE_SIZE;
use crate::model::domain_tree::{DomainTree, Holding, is_below};

/// A subscriber's domain in any state.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = domain_control)]
struct Row {
    id: i64,
    domain: String,
    state: String,
    parent_id: Option<i64>,
    detached: bool,
    size_now: Option<i64>,
}

impl Row {
    fn holding(&self) -> Holding {
        let proved = self.state == VERIFIED && self.parent_id.is_none();
        Holding { id: self.id, proved, detached: self.detached }
    }

    fn is_large(&self) -> bool {
        self.size_now.is_some_and(|size| size > FREE_SIZE)
    }
}

fn rows(db: &mut Db, subscriber: i64) -> Result<Vec<Row>, DatabaseError> {
    Ok(domain_control::table
        .filter(domain_control::subscriber_id.eq(subscriber))
        .select(Row::as_select())
        .load(db)?)
}

fn tree(rows: &[Row]) -> DomainTree {
    DomainTree::new(rows.iter().map(|row| (row.domain.clone(), row.holding())))
}

/// Returns the id of the verified domain from which a subscriber would inherit `domain`.
pub fn root_of(db: &mut Db, subscriber: i64, domain: &str) -> Result<Option<i64>, DatabaseError> {
    Ok(tree(&rows(db, subscriber)?).root_of(domain))
}

/// Finds known email domains below `root` that the subscriber should inherit but doesn't have, each
/// along with the id of `root`. Domains known to be large are included only if `has_room` is set.
pub fn missing(
    db: &mut Db,
    subscriber: i64,
    root: &str,
    has_room: bool,
) -> Result<Vec<(String, i64)>, DatabaseError> {
    let rows = rows(db, subscriber)?;
    let Some(id) = rows.iter().find(|row| row.domain == root && row.holding().proved) else {
        return Ok(Vec::new());
    };
    let (id, tree) = (id.id, tree(&rows));
    let kept = |row: &&Row| row.state == VERIFIED || (!has_room && row.is_large());
    let kept: std::collections::HashSet<&str> =
        rows.iter().filter(kept).map(|row| row.domain.as_str()).collect();
    let known = mail_domains::below(db, root)?.into_iter();
    let missing = known.filter(|name| !kept.contains(name.as_str()));
    // A domain with a closer verified parent is inherited from that one instead.
    Ok(missing.filter(|name| tree.root_of(name) == Some(id)).map(|name| (name, id)).collect())
}

/// Takes a domain away from a subscriber, along with all domains inherited from it and any email
/// links that would verify these again.
///
/// A domain that would immediately be inherited again is marked as removed instead. The mark stays
/// until this domain or one of its parents is verified again.
///
/// # Errors
/// [`DatabaseError::NotFound`] if the subscriber doesn't have the domain.
pub fn revoke(db: &mut Db, subscriber: i64, domain: &str) -> Result<(), DatabaseError> {
    turns::take_subscriber(db, subscriber)?;
    let rows = rows(db, subscriber)?;
    let mut tree = tree(&rows);
    let row = rows.iter().find(|row| row.domain == domain && row.state != REMOVED);
    let row = row.ok_or(DatabaseError::NotFound)?;
    if tree.has_root(domain) {
        tree.set(domain, Holding { proved: false, detached: true, ..row.holding() });
        let removed = (
            domain_control::state.eq(REMOVED),
            domain_control::detached.eq(true),
            domain_control::method.eq(None::<String>),
            domain_control::parent_id.eq(None::<i64>),
            domain_control::verified_at.eq(None::<i64>),
            domain_control::monthly.eq(false),
        );
        diesel::update(domain_control::table.find(row.id)).set(removed).execute(db)?;
    } else {
        tree.remove(domain);
        diesel::delete(domain_control::table.find(row.id)).execute(db)?;
    }
    let mut lost = vec![domain];
    for below in rows.iter().filter(|row| is_below(&row.domain, domain)) {
        let row = domain_control::table.find(below.id);
        if below.state == REMOVED {
            if !tree.has_root(&below.domain) {
                diesel::delete(row).execute(db)?;
                lost.push(&below.domain);
            }
        } else if let Some(parent) = below.parent_id {
            match tree.root_of(&below.domain) {
                Some(root) if root == parent => {}
                Some(root) => {
                    let parent = domain_control::parent_id.eq(root);
                    diesel::update(row).set(parent).execute(db)?;
                }
                None => {
                    diesel::delete(row).execute(db)?;
                    lost.push(&below.domain);
                }
            }
        }
    }
    forget_lost(db, &lost)
}

/// Lets `domain` and its subdomains be inherited again even if the subscriber removed them. Call
/// this once `domain` has been verified.
pub fn attach_below(db: &mut Db, subscriber: i64, domain: &str) -> Result<(), DatabaseError> {
    for row in rows(db, subscriber)? {
        if row.detached && (row.domain == domain || is_below(&row.domain, domain)) {
            let found = domain_control::table.find(row.id);
            if row.state == REMOVED {
                diesel::delete(found).execute(db)?;
            } else {
                diesel::update(found).set(domain_control::detached.eq(false)).execute(db)?;
            }
        }
    }
    Ok(())
}

/// Turns off the newest inherited domains so that at most `max` large domains are left.
pub fn keep_within(db: &mut Db, subscriber: i64, max: i32) -> Result<(), DatabaseError> {
    let larger = larger_domains(db, subscriber)?;
    let excess = larger.len().saturating_sub(usize::try_from(max).unwrap_or(0));
    let inherited = larger.iter().rev().filter(|domain| domain.parent_id.is_some());
    let (out, names): (Vec<i64>, Vec<&str>) =
        inherited.take(excess).map(|domain| (domain.id, domain.domain.as_str())).unzip();
    if out.is_empty() {
        return Ok(());
    }
    let rows = domain_control::table.filter(domain_control::id.eq_any(out));
    diesel::update(rows).set(domain_control::state.eq(NO_ROOM)).execute(db)?;
    forget_lost(db, &names)
}
