//! Creates, changes and deletes categories and tags.

use std::collections::HashSet;

use database::{DatabaseError, Db};

use crate::error::Error;
use crate::model::role::{self, User};
use crate::model::slug;
use crate::model::term::{Taxonomy, Term, TermChange, TermRef};
use crate::store::{slugs, terms};
use crate::wire::term_input::plain_name;

/// Creates a term.
pub fn create(db: &mut Db, taxonomy: Taxonomy, change: &TermChange) -> Result<Term, Error> {
    create_as(db, taxonomy, change, None)
}

/// Creates a term. It gets `wanted_id`, its id on the remote site, if that is still free here.
pub fn create_as(
    db: &mut Db,
    taxonomy: Taxonomy,
    change: &TermChange,
    wanted_id: Option<i64>,
) -> Result<Term, Error> {
    let name = change.name.clone().unwrap_or_default();
    let parent = change.parent.unwrap_or(0);
    reject_duplicate(db, taxonomy, &name, parent, 0)?;
    let mut term = Term {
        id: 0,
        taxonomy,
        slug: String::new(),
        description: change.description.clone().unwrap_or_default(),
        parent,
        count: 0,
        name,
    };
    term.slug = free_slug(db, &term, change.slug.as_deref())?;
    slugs::forget_former(db, taxonomy.collection(), &term.slug)?;
    term.id = terms::insert_as(db, &term, wanted_id)?;
    Ok(term)
}

/// Rejects a duplicate name. Category names must be unique per parent, and tag names overall.
fn reject_duplicate(
    db: &mut Db,
    taxonomy: Taxonomy,
    name: &str,
    parent: i64,
    except: i64,
) -> Result<(), Error> {
    match terms::named(db, taxonomy, name, Some(parent), except)? {
        Some(id) => Err(Error::TermExists(id)),
        None => Ok(()),
    }
}

/// Returns a free slug. If the preferred one is taken, appends the parent's slug before trying
/// numbers.
fn free_slug(db: &mut Db, term: &Term, sent: Option<&str>) -> Result<String, DatabaseError> {
    let sent = sent.map(slug::slugify).filter(|slug| !slug.is_empty());
    let mut base = sent.unwrap_or_else(|| slug::slugify(&term.name));
    if base.is_empty() {
        base = term.taxonomy.collection().to_owned();
    }
    if term.parent != 0
        && terms::slug_taken(db, term.taxonomy, &base, term.id)?
        && let Some(parent) = terms::find(db, term.taxonomy, term.parent)?
    {
        base = slug::below(&base, &parent.slug);
    }
    slug::free(&base, |candidate| terms::slug_taken(db, term.taxonomy, candidate, term.id))
}

/// Changes a term. If the new parent would create a loop, the other terms in the loop become roots.
pub fn update(db: &mut Db, mut term: Term, change: &TermChange) -> Result<Term, Error> {
    if let Some(name) = &change.name {
        term.name.clone_from(name);
    }
    if let Some(description) = &change.description {
        term.description.clone_from(description);
    }
    if let Some(parent) = change.parent {
        term.parent = break_loop(db, term.id, parent)?;
    }
    if change.name.is_some() || change.parent.is_some() {
        reject_duplicate(db, term.taxonomy, &term.name, term.parent, term.id)?;
    }
    if let Some(sent) = &change.slug {
        let wanted = slug::slugify(sent);
        if !wanted.is_empty() && terms::slug_taken(db, term.taxonomy, &wanted, term.id)? {
            return Err(Error::DuplicateTermSlug);
        }
        let new = free_slug(db, &term, Some(&wanted))?;
        if new != term.slug {
            let collection = term.taxonomy.collection();
            slugs::note_former(db, collection, &term.slug, term.id)?;
            slugs::forget_former(db, collection, &new)?;
            term.slug = new;
        }
    }
    terms::update(db, &term)?;
    Ok(term)
}

/// Returns the parent to set. If it is a descendant of the term, it becomes a root, as do all terms
/// between the two.
fn break_loop(db: &mut Db, id: i64, parent: i64) -> Result<i64, DatabaseError> {
    if parent == id {
        return Ok(0);
    }
    let mut above = Vec::new();
    let mut seen = HashSet::new();
    let mut next = parent;
    while next != 0 && next != id && seen.insert(next) {
        above.push(next);
        next = terms::parent_of(db, next)?;
    }
    if next == id {
        for member in above {
            terms::set_parent(db, member, 0)?;
        }
    }
    Ok(parent)
}

/// A term that an event refers to.
pub enum PlannedTerm<'a> {
    /// A stored term.
    Known(i64),
    /// The name of a term to create, unless this request has already created it.
    New(&'a str),
}

/// Decides which terms an event will have. Strings are slugs or names. Creating a new term requires
/// permission.
pub fn plan<'a>(
    db: &mut Db,
    taxonomy: Taxonomy,
    refs: &'a [TermRef],
    user: &User,
) -> Result<Vec<PlannedTerm<'a>>, Error> {
    let texts = refs.iter().filter_map(|one| match one {
        TermRef::Id(_) => None,
        TermRef::Text(text) => Some(text.to_lowercase()),
    });
    let known = terms::ids_by_slug(db, taxonomy, &texts.collect::<Vec<_>>())?;
    let mut planned = Vec::new();
    for one in refs {
        let text = match one {
            TermRef::Id(id) => {
                planned.push(PlannedTerm::Known(*id));
                continue;
            }
            TermRef::Text(text) => text,
        };
        let id = match known.get(&text.to_lowercase()) {
            Some(id) => Some(*id),
            None => find(db, taxonomy, text)?,
        };
        match id {
            Some(id) => planned.push(PlannedTerm::Known(id)),
            None if plain_name(text).is_empty() => {}
            None if role::may_make_terms(user) => planned.push(PlannedTerm::New(text)),
            None => return Err(Error::Forbidden),
        }
    }
    Ok(planned)
}

/// Stores the planned terms and returns their ids without duplicates.
pub fn store(
    db: &mut Db,
    taxonomy: Taxonomy,
    planned: &[PlannedTerm<'_>],
) -> Result<Vec<i64>, Error> {
    let mut ids = Vec::new();
    for term in planned {
        let id = match term {
            PlannedTerm::Known(id) => *id,
            PlannedTerm::New(text) => match find(db, taxonomy, text)? {
                Some(id) => id,
                None => {
                    let name = Some(plain_name(text));
                    create(db, taxonomy, &TermChange { name, ..TermChange::default() })?.id
                }
            },
        };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Finds a term by slug or by name.
fn find(db: &mut Db, taxonomy: Taxonomy, text: &str) -> Result<Option<i64>, DatabaseError> {
    let name = plain_name(text);
    if name.is_empty() {
        return Ok(None);
    }
    match terms::find_by_slug(db, taxonomy, &text.to_lowercase())? {
        Some(term) => Ok(Some(term.id)),
        None => terms::named(db, taxonomy, &name, None, 0),
    }
}
