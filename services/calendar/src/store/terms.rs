//! Categories and tags.

use std::collections::{BTreeMap, HashMap, HashSet};

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::among_ids::among;
use super::schema::terms;
use super::sql::{Sql, TEXTS, TextRow, head, head_of_names};
use super::{entities, links, site_items, slugs};
use crate::model::event::{Event, Links};
use crate::model::search;
use crate::model::term::{Taxonomy, Term};

/// Up to this number of slugs, lookups use a prepared statement. There is one statement for each
/// number of slugs.
const FEW: usize = 8;

#[derive(Queryable, Selectable)]
#[diesel(table_name = terms)]
pub struct Row {
    pub(super) id: i64,
    taxonomy: i32,
    name: String,
    slug: String,
    description: String,
    parent_id: i64,
    count: i64,
}

impl From<Row> for Term {
    fn from(row: Row) -> Term {
        Term {
            id: row.id,
            taxonomy: if row.taxonomy == 1 { Taxonomy::Category } else { Taxonomy::Tag },
            name: row.name,
            slug: row.slug,
            description: row.description,
            parent: row.parent_id,
            count: row.count,
        }
    }
}

/// Finds a term in a taxonomy by id.
pub fn find(db: &mut Db, taxonomy: Taxonomy, id: i64) -> Result<Option<Term>, DatabaseError> {
    let found = terms::table.filter(terms::id.eq(id).and(terms::taxonomy.eq(taxonomy.code())));
    Ok(found.select(Row::as_select()).first(db).optional()?.map(Term::from))
}

/// Finds a term in a taxonomy by its slug as stored.
pub fn find_by_slug(
    db: &mut Db,
    taxonomy: Taxonomy,
    slug: &str,
) -> Result<Option<Term>, DatabaseError> {
    let found = terms::table.filter(terms::slug.eq(slug).and(terms::taxonomy.eq(taxonomy.code())));
    Ok(found.select(Row::as_select()).first(db).optional()?.map(Term::from))
}

/// Returns the id of the first term with this name, ignoring case. Skips the term `except`. If a
/// parent is given, only searches its children.
pub fn named(
    db: &mut Db,
    taxonomy: Taxonomy,
    name: &str,
    parent: Option<i64>,
    except: i64,
) -> Result<Option<i64>, DatabaseError> {
    let folded = search::fold_name(name);
    let found = terms::table
        .filter(terms::taxonomy.eq(taxonomy.code()).and(head_of_names().eq(head(&folded))))
        .filter(terms::name_ci.eq(&folded).and(terms::id.ne(except)))
        .order(terms::id)
        .select(terms::id);
    Ok(match parent {
        Some(parent) => found.filter(terms::parent_id.eq(parent)).first(db).optional()?,
        None => found.first(db).optional()?,
    })
}

/// Returns a term's parent, or 0 if it is at the top level or isn't a category.
pub fn parent_of(db: &mut Db, id: i64) -> Result<i64, DatabaseError> {
    let category = terms::id.eq(id).and(terms::taxonomy.eq(Taxonomy::Category.code()));
    let parent: Option<i64> =
        terms::table.filter(category).select(terms::parent_id).first(db).optional()?;
    Ok(parent.unwrap_or(0))
}

/// Returns which of the ids exist in the taxonomy.
pub fn existing(
    db: &mut Db,
    taxonomy: Taxonomy,
    ids: &[i64],
) -> Result<HashSet<i64>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let found: Vec<i64> = on_backend!(db, conn => terms::table
        .filter(among(terms::id, ids).and(terms::taxonomy.eq(taxonomy.code())))
        .select(terms::id)
        .load(conn)?);
    Ok(found.into_iter().collect())
}

/// Returns term ids by their slugs as stored.
pub fn ids_by_slug(
    db: &mut Db,
    taxonomy: Taxonomy,
    slugs: &[String],
) -> Result<HashMap<String, i64>, DatabaseError> {
    if slugs.is_empty() {
        return Ok(HashMap::new());
    }
    let text = "select id, slug as text from terms where taxonomy = ";
    let mut sql = if slugs.len() <= FEW { Sql::prepared(db, text) } else { Sql::new(db, text) };
    sql.value(taxonomy.code().into()).push(" and slug in ");
    sql.texts(slugs.iter().map(String::as_str));
    let found: Vec<TextRow> = sql.load(db)?;
    Ok(found.into_iter().map(|row| (row.text, row.id)).collect())
}

/// Returns the ids of the first terms with these case-folded names, keyed by name.
pub fn ids_by_name(
    db: &mut Db,
    taxonomy: Taxonomy,
    folded: &[&str],
) -> Result<HashMap<String, i64>, DatabaseError> {
    let mut ids = HashMap::new();
    for names in folded.chunks(TEXTS) {
        let heads: Vec<String> = names.iter().map(|name| head(name)).collect();
        let mut sql =
            Sql::new(db, "select min(id) as id, name_ci as text from terms where taxonomy = ");
        sql.value(taxonomy.code().into()).push(" and substr(name_ci, 1, 200) in ");
        sql.texts(heads.iter().map(String::as_str)).push(" and name_ci in ");
        sql.texts(names.iter().copied()).push(" group by name_ci");
        let rows: Vec<TextRow> = sql.load(db)?;
        ids.extend(rows.into_iter().map(|row| (row.text, row.id)));
    }
    Ok(ids)
}

/// Returns terms by id, along with all their ancestors.
pub fn with_ancestors(db: &mut Db, ids: &[i64]) -> Result<HashMap<i64, Term>, DatabaseError> {
    let mut known: HashMap<i64, Term> = HashMap::new();
    let mut wanted: Vec<i64> = ids.to_vec();
    while !wanted.is_empty() {
        let rows: Vec<Row> = on_backend!(db, conn => terms::table
            .filter(terms::id.eq_any(&wanted))
            .select(Row::as_select())
            .load(conn)?);
        let found: Vec<Term> = rows.into_iter().map(Term::from).collect();
        let parents: HashSet<i64> =
            found.iter().map(|term| term.parent).filter(|parent| *parent != 0).collect();
        known.extend(found.into_iter().map(|term| (term.id, term)));
        wanted = parents.into_iter().filter(|id| !known.contains_key(id)).collect();
    }
    Ok(known)
}

/// Returns the ids along with the ids of all descendants.
pub fn with_descendants(db: &mut Db, ids: &[i64]) -> Result<Vec<i64>, DatabaseError> {
    let mut known: HashSet<i64> = ids.iter().copied().collect();
    let mut level: Vec<i64> = ids.to_vec();
    while !level.is_empty() {
        let children: Vec<i64> = on_backend!(db, conn => terms::table
            .filter(terms::taxonomy.eq(Taxonomy::Category.code()))
            .filter(terms::parent_id.eq_any(&level))
            .select(terms::id)
            .load(conn)?);
        level = children.into_iter().filter(|id| known.insert(*id)).collect();
    }
    let mut all: Vec<i64> = known.into_iter().collect();
    all.sort_unstable();
    Ok(all)
}

/// The columns that are set when a term is written. The count isn't included, because event writes
/// update it.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = terms)]
struct TermColumns<'t> {
    taxonomy: i32,
    name: &'t str,
    name_ci: String,
    search_ci: String,
    slug: &'t str,
    description: &'t str,
    parent_id: i64,
}

impl<'t> TermColumns<'t> {
    fn of(term: &'t Term) -> Self {
        Self {
            taxonomy: term.taxonomy.code(),
            name: &term.name,
            name_ci: search::fold_name(&term.name),
            search_ci: search::fold(&term.name),
            slug: &term.slug,
            description: &term.description,
            parent_id: term.parent,
        }
    }
}

/// Inserts a term and returns its id.
pub fn insert(db: &mut Db, new: &Term) -> Result<i64, DatabaseError> {
    let id = diesel::insert_into(terms::table)
        .values((TermColumns::of(new), terms::count.eq(0)))
        .returning(terms::id)
        .get_result(db)?;
    Ok(id)
}

/// Inserts a term and returns its id, which is its id on another site (`wanted`) unless that is
/// taken.
pub fn insert_as(db: &mut Db, new: &Term, wanted: Option<i64>) -> Result<i64, DatabaseError> {
    let id = insert(db, new)?;
    let Some(wanted) = wanted else { return Ok(id) };
    if !entities::is_free(db, "terms", wanted)? {
        return Ok(id);
    }
    diesel::update(terms::table.find(id)).set(terms::id.eq(wanted)).execute(db)?;
    entities::raise_sequence(db, "terms", wanted)?;
    Ok(wanted)
}

pub fn update(db: &mut Db, new: &Term) -> Result<(), DatabaseError> {
    diesel::update(terms::table.find(new.id)).set(TermColumns::of(new)).execute(db)?;
    Ok(())
}

pub fn set_parent(db: &mut Db, id: i64, parent: i64) -> Result<(), DatabaseError> {
    diesel::update(terms::table.find(id)).set(terms::parent_id.eq(parent)).execute(db)?;
    Ok(())
}

/// Deletes a term and its links. Its children move up to its parent.
pub fn delete(db: &mut Db, old: &Term) -> Result<(), DatabaseError> {
    let children = terms::table
        .filter(terms::taxonomy.eq(old.taxonomy.code()).and(terms::parent_id.eq(old.id)));
    diesel::update(children).set(terms::parent_id.eq(old.parent)).execute(db)?;
    links::remove_term(db, old.id)?;
    slugs::forget_all(db, old.taxonomy.collection(), old.id)?;
    site_items::forget(db, old.taxonomy.collection(), old.id)?;
    diesel::delete(terms::table.find(old.id)).execute(db)?;
    Ok(())
}

/// Updates the stored counts of published events after an event is written.
pub fn recount(
    db: &mut Db,
    old: Option<(&Event, &Links)>,
    new: Option<(&Event, &Links)>,
) -> Result<(), DatabaseError> {
    let counted = |state: Option<(&Event, &Links)>| -> HashSet<i64> {
        state
            .filter(|(event, _)| event.status.is_published())
            .map(|(_, links)| links.categories.iter().chain(&links.tags).copied().collect())
            .unwrap_or_default()
    };
    let (old, new) = (counted(old), counted(new));
    let lost: Vec<i64> = old.difference(&new).copied().collect();
    let gained: Vec<i64> = new.difference(&old).copied().collect();
    for (ids, change) in [(lost, -1_i64), (gained, 1)] {
        if !ids.is_empty() {
            on_backend!(db, conn => diesel::update(terms::table.filter(among(terms::id, &ids)))
                .set(terms::count.eq(terms::count + change))
                .execute(conn)?);
        }
    }
    Ok(())
}

/// Updates the stored counts of published events after these events are created.
pub fn count_new(db: &mut Db, new: &[(Event, Links)]) -> Result<(), DatabaseError> {
    let mut gained: BTreeMap<i64, i64> = BTreeMap::new();
    for (event, links) in new {
        let ids = links.categories.iter().chain(&links.tags);
        for id in ids.filter(|_| event.status.is_published()) {
            *gained.entry(*id).or_default() += 1;
        }
    }
    // Terms that gained the same number share a statement.
    let mut alike: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (id, number) in gained {
        alike.entry(number).or_default().push(id);
    }
    for (number, ids) in alike {
        on_backend!(db, conn => diesel::update(terms::table.filter(among(terms::id, &ids)))
            .set(terms::count.eq(terms::count + number))
            .execute(conn)?);
    }
    Ok(())
}

/// Returns whether a term other than `except` already uses this slug.
pub fn slug_taken(
    db: &mut Db,
    taxonomy: Taxonomy,
    slug: &str,
    except: i64,
) -> Result<bool, DatabaseError> {
    let taken = terms::slug.eq(slug).and(terms::taxonomy.eq(taxonomy.code()));
    let taken = terms::table.filter(taken.and(terms::id.ne(except)));
    Ok(taken.count().get_result::<i64>(db)? > 0)
}
