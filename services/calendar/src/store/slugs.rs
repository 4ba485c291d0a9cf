//! Free slugs, per kind of resource.

use database::{DatabaseError, Db};

use super::sql::Sql;
use crate::model::slug;

/// Finds a free slug in one of the tables with unique slugs, not counting the row itself.
///
/// The suffix goes behind the number of a collision, so that it can be taken off again.
pub fn free(
    db: &mut Db,
    table: &'static str,
    base: &str,
    suffix: &str,
    except: i64,
) -> Result<String, DatabaseError> {
    let free = slug::free(base, |candidate| {
        let mut sql = Sql::new(db, "select count(*) as n from ");
        sql.push(table).push(" where slug = ").bind(slug::with_suffix(candidate, suffix));
        sql.push(&format!(" and id <> {except}"));
        Ok::<bool, DatabaseError>(sql.number(db)? > 0)
    })?;
    Ok(slug::with_suffix(&free, suffix))
}
