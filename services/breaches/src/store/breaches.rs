//! The breach catalogue.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::schema::{breach, data_class, job};
use super::versions;
use crate::model::{Breach, Catalogue, Flags};

diesel::define_sql_function!(fn lower(text: Text) -> Text);

#[derive(Queryable, Insertable, AsChangeset)]
#[diesel(table_name = breach, treat_none_as_null = true)]
struct Row {
    id: i32,
    name: String,
    title: String,
    domain: String,
    breach_date: String,
    added_date: i64,
    modified_date: i64,
    pwn_count: i64,
    loaded_count: i64,
    description: String,
    logo_path: String,
    attribution: Option<String>,
    disclosure_url: Option<String>,
    data_classes: String,
    is_verified: bool,
    is_fabricated: bool,
    is_sensitive: bool,
    is_retired: bool,
    is_spam_list: bool,
    is_malware: bool,
    is_subscription_free: bool,
    is_stealer_log: bool,
    active: bool,
}

impl TryFrom<Row> for Breach {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let data_classes = serde_json::from_str(&row.data_classes).map_err(|error| {
            let name = &row.name;
            DatabaseError::broken(format!("data_classes of the breach {name}: {error}"))
        })?;
        Ok(Self {
            id: u16::try_from(row.id).map_err(DatabaseError::broken)?,
            name: row.name,
            title: row.title,
            domain: row.domain,
            breach_date: row.breach_date,
            added: row.added_date,
            modified: row.modified_date,
            pwn_count: row.pwn_count,
            loaded_count: row.loaded_count,
            description: row.description,
            logo_path: row.logo_path,
            attribution: row.attribution,
            disclosure_url: row.disclosure_url,
            data_classes,
            flags: Flags {
                verified: row.is_verified,
                fabricated: row.is_fabricated,
                sensitive: row.is_sensitive,
                retired: row.is_retired,
                spam_list: row.is_spam_list,
                malware: row.is_malware,
                subscription_free: row.is_subscription_free,
                stealer_log: row.is_stealer_log,
            },
            active: row.active,
        })
    }
}

impl Row {
    fn of(breach: &Breach) -> Result<Self, DatabaseError> {
        let flags = breach.flags;
        Ok(Self {
            id: i32::from(breach.id),
            name: breach.name.clone(),
            title: breach.title.clone(),
            domain: breach.domain.clone(),
            breach_date: breach.breach_date.clone(),
            added_date: breach.added,
            modified_date: breach.modified,
            pwn_count: breach.pwn_count,
            loaded_count: breach.loaded_count,
            description: breach.description.clone(),
            logo_path: breach.logo_path.clone(),
            attribution: breach.attribution.clone(),
            disclosure_url: breach.disclosure_url.clone(),
            data_classes: serde_json::to_string(&breach.data_classes)
                .map_err(DatabaseError::broken)?,
            is_verified: flags.verified,
            is_fabricated: flags.fabricated,
            is_sensitive: flags.sensitive,
            is_retired: flags.retired,
            is_spam_list: flags.spam_list,
            is_malware: flags.malware,
            is_subscription_free: flags.subscription_free,
            is_stealer_log: flags.stealer_log,
            active: breach.active,
        })
    }
}

pub fn all(db: &mut Db) -> Result<Vec<Breach>, DatabaseError> {
    breach::table.order(breach::id).load::<Row>(db)?.into_iter().map(Breach::try_from).collect()
}

/// Reads the whole catalogue. The version is read first so that the next read notices concurrent
/// changes.
pub fn catalogue(db: &mut Db) -> Result<Catalogue, DatabaseError> {
    let versions = versions::current(db)?;
    let breaches = all(db)?;
    let classes = data_class::table.select(data_class::name).load(db)?;
    let (version, changed_at) = (versions.catalogue, versions.catalogue_changed_at);
    Ok(Catalogue::new(version, changed_at, breaches, classes))
}

/// Looks up a breach by name, ignoring case.
pub fn by_name(db: &mut Db, name: &str) -> Result<Option<Breach>, DatabaseError> {
    let wanted = name.to_ascii_lowercase();
    let row = breach::table.filter(lower(breach::name).eq(wanted)).first::<Row>(db).optional()?;
    row.map(Breach::try_from).transpose()
}

/// Returns the name of a breach.
pub fn name(db: &mut Db, id: u16) -> Result<String, DatabaseError> {
    Ok(breach::table.find(i32::from(id)).select(breach::name).first(db)?)
}

/// Returns whether accounts can be linked to a breach, i.e. it exists and isn't retired.
pub fn takes_accounts(db: &mut Db, id: u16) -> Result<bool, DatabaseError> {
    let retired = breach::table.find(i32::from(id)).select(breach::is_retired);
    Ok(retired.first(db).optional()? == Some(false))
}

/// Returns how many accounts are linked to a breach.
pub fn loaded(db: &mut Db, id: u16) -> Result<i64, DatabaseError> {
    Ok(breach::table.find(i32::from(id)).select(breach::loaded_count).first(db)?)
}

/// Inserts a breach under the next free id. We never reuse ids because account lists and notices
/// refer to them.
pub fn insert(db: &mut Db, new: &Breach) -> Result<u16, DatabaseError> {
    let highest: Option<i32> = breach::table.select(diesel::dsl::max(breach::id)).first(db)?;
    let given = versions::get(db, versions::LAST_BREACH_ID)?.unwrap_or(0);
    let next = given.max(highest.unwrap_or(0).into()) + 1;
    let id = u16::try_from(next).map_err(DatabaseError::broken)?;
    versions::set(db, versions::LAST_BREACH_ID, next)?;
    let row = Row::of(&Breach { id, ..new.clone() })?;
    diesel::insert_into(breach::table).values(row).execute(db)?;
    add_classes(db, &new.data_classes)?;
    Ok(id)
}

/// Saves every column of a breach.
pub fn update(db: &mut Db, changed: &Breach) -> Result<(), DatabaseError> {
    let row = Row::of(changed)?;
    let rows = diesel::update(breach::table.find(i32::from(changed.id))).set(row).execute(db)?;
    if rows == 0 {
        return Err(DatabaseError::NotFound);
    }
    add_classes(db, &changed.data_classes)
}

/// Replaces a breach's title with one that no other breach can have, since titles don't contain
/// control characters. Makes the old title available to another breach in the same transaction.
pub fn park_title(db: &mut Db, id: u16) -> Result<(), DatabaseError> {
    diesel::update(breach::table.find(i32::from(id)))
        .set(breach::title.eq(format!("\u{1}{id}")))
        .execute(db)?;
    Ok(())
}

pub fn delete(db: &mut Db, id: u16) -> Result<(), DatabaseError> {
    diesel::delete(breach::table.find(i32::from(id))).execute(db)?;
    Ok(())
}

/// Adds `more` to the number of linked accounts.
pub fn add_loaded(db: &mut Db, id: u16, more: i64) -> Result<(), DatabaseError> {
    if more != 0 {
        diesel::update(breach::table.find(i32::from(id)))
            .set(breach::loaded_count.eq(breach::loaded_count + more))
            .execute(db)?;
    }
    Ok(())
}

/// Adds `more` to the number of linked accounts, and also to the published number if the two were
/// equal.
pub fn add_counts(db: &mut Db, id: u16, more: i64) -> Result<(), DatabaseError> {
    let row = breach::table.find(i32::from(id));
    diesel::update(row.filter(breach::pwn_count.eq(breach::loaded_count)))
        .set(breach::pwn_count.eq(breach::pwn_count + more))
        .execute(db)?;
    add_loaded(db, id, more)
}

fn add_classes(db: &mut Db, classes: &[String]) -> Result<(), DatabaseError> {
    for class in classes {
        on_backend!(db, conn => diesel::insert_into(data_class::table)
            .values(data_class::name.eq(class))
            .on_conflict_do_nothing()
            .execute(conn))?;
    }
    Ok(())
}

/// Finds a retired breach that still has links and hasn't been purged.
pub fn without_purge(db: &mut Db) -> Result<Option<String>, DatabaseError> {
    let linked = breach::is_retired.eq(true).and(breach::loaded_count.gt(0_i64));
    let names: Vec<String> =
        breach::table.filter(linked).order(breach::id).select(breach::name).load(db)?;
    if names.is_empty() {
        return Ok(None);
    }
    let purged = job::table.filter(job::kind.eq("purge")).select(job::params);
    let purged: Vec<String> = purged.load(db)?;
    Ok(names.into_iter().find(|name| !purged.contains(name)))
}

/// Returns the total number of links to retired breaches.
pub fn retired_links(db: &mut Db) -> Result<i64, DatabaseError> {
    let retired = breach::table.filter(breach::is_retired.eq(true));
    let counts: Vec<i64> = retired.select(breach::loaded_count).load(db)?;
    Ok(counts.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::test_data;
    use crate::store::MIGRATIONS;

    #[test]
    fn unreadable_data_classes_are_reported_with_the_name_of_the_breach() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let read = pools.write_blocking(|db| {
            insert(db, &test_data::fixtures().remove(0))?;
            diesel::update(breach::table).set(breach::data_classes.eq("none")).execute(db)?;
            all(db)
        });
        let error = read.unwrap_err().to_string();
        assert!(error.contains("data_classes of the breach Acmegram: expected"), "{error}");
    }
}
