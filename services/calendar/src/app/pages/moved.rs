//! Redirects from old slugs to the current pages.

use super::super::context::RequestContext;
use super::super::transactions::read;
use super::listing::PageRequest;
use crate::error::Error;
use crate::model::linked::Kind;
use crate::model::role;
use crate::model::slug::lookup_form;
use crate::model::term::Taxonomy;
use crate::state::State;
use crate::store::{events, included, linked_posts, slugs, terms};

/// The kind of page a slug belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    Event,
    Linked(Kind),
    Term(Taxonomy),
}

impl Named {
    fn collection(self) -> &'static str {
        match self {
            Named::Event => "events",
            Named::Linked(kind) => kind.collection(),
            Named::Term(taxonomy) => taxonomy.collection(),
        }
    }
}

/// Returns the path of the page that used to have this slug, relative to the base URL.
///
/// # Errors
/// An unpublished page is reported as not found.
pub async fn moved(
    state: &State,
    request: &PageRequest,
    named: Named,
    slug: &str,
) -> Result<String, Error> {
    let slug = lookup_form(slug);
    read(state, request.of(&[]), move |context, _| {
        let id = slugs::owner_of_former(context.db, named.collection(), &slug)?;
        let address = match id {
            Some(id) => address(context, named, id)?,
            None => None,
        };
        let address = address.ok_or(Error::NoRoute)?;
        Ok(address.strip_prefix(&context.urls.base).unwrap_or(&address).to_owned())
    })
    .await
}

/// Returns the path of a row's page, relative to the base URL.
///
/// # Errors
/// An unpublished page is reported as not found.
pub async fn path_of(
    state: &State,
    request: &PageRequest,
    named: Named,
    id: i64,
) -> Result<String, Error> {
    read(state, request.of(&[]), move |context, _| {
        let address = address(context, named, id)?.ok_or(Error::NoRoute)?;
        Ok(address.strip_prefix(&context.urls.base).unwrap_or(&address).to_owned())
    })
    .await
}

/// Returns a page's URL, or `None` if the resource does not exist or is hidden from visitors.
fn address(
    context: &mut RequestContext<'_>,
    named: Named,
    id: i64,
) -> Result<Option<String>, Error> {
    Ok(match named {
        Named::Event => {
            let event = events::find(context.db, id)?;
            let shown = event.filter(|one| role::may_read(&None, &one.status, one.author));
            shown.map(|event| context.urls.event_page(&event.slug))
        }
        Named::Linked(kind) => {
            let row = linked_posts::find(context.db, kind, id)?;
            let shown = row.filter(|row| role::may_read(&None, &row.status, row.author));
            shown.map(|row| context.urls.linked_page(kind, &row.slug))
        }
        Named::Term(taxonomy) => match terms::find(context.db, taxonomy, id)? {
            Some(term) => {
                let included = included::of_terms(context.db, std::slice::from_ref(&term))?;
                Some(context.urls.term_page(taxonomy, &included.path(&term)))
            }
            None => None,
        },
    })
}
