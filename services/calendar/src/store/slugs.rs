//! Search for free slugs, per kind of resource.

use database::{DatabaseError, Db};

use super::sql::Sql;
use crate::model::slug;

/// Returns a free slug in a table with unique slugs, ignoring the row itself.
///
/// The suffix follows the number of a collision, so it can be removed again.
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
