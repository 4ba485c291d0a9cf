//! Sitemaps for the published pages, split into parts.

use database::{DatabaseError, Db};
use sha2::{Digest, Sha256};
use shell::EntityTag;

use super::super::context::RequestContext;
use super::super::transactions::read;
use super::listing::PageRequest;
use crate::error::Error;
use crate::model::linked::Kind;
use crate::model::schedule::instant_from_seconds;
use crate::model::term::Term;
use crate::state::State;
use crate::store::site_map::{self, PageRow};
use crate::store::{feeds, included, terms};

/// Number of ids per part, and therefore its maximum number of URLs. The protocol allows 50,000.
const PART: i64 = 10_000;

/// Maximum number of parts. The protocol allows 50,000 entries in a sitemap index, and one of them
/// is the list pages' sitemap.
const PARTS: usize = 49_999;

/// The kind of pages in a part of the sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Events, venues and organizers.
    Items,
    /// Categories and tags.
    Terms,
}

impl Section {
    /// Returns the next id after `last` that has a page.
    fn next(self, db: &mut Db, last: i64) -> Result<Option<i64>, DatabaseError> {
        match self {
            Section::Items => site_map::next_item(db, last),
            Section::Terms => site_map::next_term(db, last),
        }
    }
}

/// One part of the sitemap. Parts are numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    section: Section,
    number: i64,
}

/// A page in the sitemap.
#[derive(Clone, Debug)]
pub struct SitePage {
    pub url: String,
    /// When it last changed, in ISO format. Empty if unknown.
    pub modified: String,
}

impl Part {
    /// Parses `items-3` or `terms-1`.
    pub fn parse(text: &str) -> Option<Part> {
        let (section, number) = text.split_once('-')?;
        let section = match section {
            "items" => Section::Items,
            "terms" => Section::Terms,
            _ => return None,
        };
        let number =
            number.parse().ok().filter(|number| (1..=i64::from(u32::MAX)).contains(number))?;
        let part = Part { section, number };
        (part.name() == text).then_some(part)
    }

    /// Formats the part for its URL.
    pub fn name(self) -> String {
        let section = match self.section {
            Section::Items => "items",
            Section::Terms => "terms",
        };
        format!("{section}-{}", self.number)
    }

    /// Returns the range of ids, as first and last.
    fn ids(self) -> (i64, i64) {
        ((self.number - 1) * PART + 1, self.number * PART)
    }
}

/// Returns an entity tag for the published content as seen under these URLs.
///
/// # Errors
/// Returns any database error.
pub async fn tag(state: &State, request: &PageRequest, what: &str) -> Result<EntityTag, Error> {
    let version =
        read(state, request.of(&[]), |context, _| Ok(feeds::version(context.db)?)).await?;
    let mut hasher = Sha256::new();
    for part in [env!("CARGO_PKG_VERSION"), &version.to_string(), &request.urls.base, what] {
        hasher.update(part.as_bytes());
        hasher.update(b"\0");
    }
    Ok(EntityTag::of_digest(&hasher.finalize()[..16]))
}

/// Returns the parts that have any pages.
///
/// # Errors
/// Returns any database error.
pub async fn parts(state: &State, request: &PageRequest) -> Result<Vec<Part>, Error> {
    read(state, request.of(&[]), |context, _| {
        let mut parts = Vec::new();
        for section in [Section::Items, Section::Terms] {
            let mut last = 0;
            // There can be large gaps between ids, so skip empty parts.
            while parts.len() < PARTS
                && let Some(id) = section.next(context.db, last)?
            {
                let part = Part { section, number: (id + PART - 1) / PART };
                (_, last) = part.ids();
                parts.push(part);
            }
        }
        Ok(parts)
    })
    .await
}

/// Returns a part's pages.
///
/// # Errors
/// Returns an error if the part has no pages, or the database fails.
pub async fn pages(
    state: &State,
    request: &PageRequest,
    part: Part,
) -> Result<Vec<SitePage>, Error> {
    read(state, request.of(&[]), move |context, _| {
        let pages = match part.section {
            Section::Items => items(context, part.ids())?,
            Section::Terms => term_pages(context, part.ids())?,
        };
        if pages.is_empty() { Err(Error::NoRoute) } else { Ok(pages) }
    })
    .await
}

fn items(context: &mut RequestContext<'_>, ids: (i64, i64)) -> Result<Vec<SitePage>, Error> {
    let page = |url: String, row: &PageRow| SitePage {
        url,
        modified: instant_from_seconds(row.modified).to_string(),
    };
    let mut pages = Vec::new();
    for row in site_map::events(context.db, ids)? {
        pages.push(page(context.urls.event_page(&row.slug), &row));
    }
    for kind in [Kind::Venue, Kind::Organizer] {
        for row in site_map::linked(context.db, kind, ids)? {
            pages.push(page(context.urls.linked_page(kind, &row.slug), &row));
        }
    }
    Ok(pages)
}

fn term_pages(context: &mut RequestContext<'_>, ids: (i64, i64)) -> Result<Vec<SitePage>, Error> {
    let ids = site_map::terms(context.db, ids)?;
    let mut known = terms::with_ancestors(context.db, &ids)?;
    let rows: Vec<Term> = ids.iter().filter_map(|id| known.remove(id)).collect();
    let included = included::of_terms(context.db, &rows)?;
    let page = |term: &Term| SitePage {
        url: context.urls.term_page(term.taxonomy, &included.path(term)),
        modified: String::new(),
    };
    Ok(rows.iter().map(page).collect())
}
