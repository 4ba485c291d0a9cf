//! Categories and tags that pages offer as filters.

use database::{DatabaseError, Db};
use diesel::QueryableByName;
use diesel::sql_types::Text;

use super::sql::Sql;
use crate::model::term::Taxonomy;

/// Maximum number of terms to examine.
const SEEN: usize = 5000;

#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct TermChoice {
    #[diesel(sql_type = Text)]
    pub name: String,
    #[diesel(sql_type = Text)]
    pub slug: String,
}

/// Returns the most used terms in a taxonomy, sorted by name.
pub fn most_used(
    db: &mut Db,
    taxonomy: Taxonomy,
    most: usize,
) -> Result<Vec<TermChoice>, DatabaseError> {
    let code = taxonomy.code();
    let text = format!(
        "select t.name, t.slug from (select name, name_ci, slug, count as used from terms \
         where taxonomy = {code} order by name_ci limit {SEEN}) t \
         where t.used > 0 order by t.used desc, t.name_ci limit {most}"
    );
    let mut choices: Vec<TermChoice> = Sql::new(db, &text).load(db)?;
    choices.sort_by_cached_key(|choice| choice.name.to_lowercase());
    Ok(choices)
}
