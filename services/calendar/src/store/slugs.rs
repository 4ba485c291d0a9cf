//! Free slugs, per kind of resource.

use ::store::{Db, StoreError};

use super::sql::Sql;
use crate::model::slug;

/// Finds a free slug in one of the tables with unique slugs, not counting the row itself.
pub fn free(
    db: &mut Db,
    table: &'static str,
    base: &str,
    except: i64,
) -> Result<String, StoreError> {
    slug::free(base, |candidate| {
        let mut sql = Sql::new(db, "select count(*) as n from ");
        sql.push(table).push(" where slug = ").bind(candidate);
        sql.push(&format!(" and id <> {except}"));
        Ok(sql.number(db)? > 0)
    })
}
