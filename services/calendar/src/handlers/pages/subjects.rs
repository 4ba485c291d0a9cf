//! Venue, organizer, category and tag pages, with their upcoming events.

use actix_web::HttpResponse;
use actix_web::web::Path;
use askama::Template;

use super::super::reuse::Lasting;
use super::head::Head;
use super::list::EventList;
use super::recorded::{list_of, view_of_category};
use super::visit::{Reader, Subscription, Visit, moved_page};
use crate::app::pages::{self, Named, TermView};
use crate::error::Error;
use crate::model::language::Words;
use crate::model::linked::Kind;
use crate::model::slug::lookup_form;
use crate::model::term::Taxonomy;
use crate::wire::pages::linked::LinkedView;
use crate::wire::pages::query::PageQuery;

#[derive(Template)]
#[template(path = "linked.html")]
struct LinkedPage<'a> {
    root: &'a str,
    /// The query string for links to other pages.
    lang: &'a str,
    words: &'static Words,
    row: &'a LinkedView,
    is_venue: bool,
    events: EventList<'a>,
    subscription: Subscription,
}

#[derive(Template)]
#[template(path = "term.html")]
struct TermPage<'a> {
    root: &'a str,
    /// The query string for links to other pages.
    lang: &'a str,
    words: &'static Words,
    term: &'a TermView,
    is_category: bool,
    events: EventList<'a>,
    subscription: Subscription,
}

pub async fn venue(visit: Visit, slug: Path<String>) -> HttpResponse {
    show(visit, Named::Linked(Kind::Venue), &slug, None).await
}

pub async fn organizer(visit: Visit, slug: Path<String>) -> HttpResponse {
    show(visit, Named::Linked(Kind::Organizer), &slug, None).await
}

/// Shows the category with the last slug in the path. If the other slugs don't match its ancestors,
/// e.g. because one of them was renamed, redirects to its current path.
pub async fn category(visit: Visit, path: Path<String>) -> HttpResponse {
    let slug = path.rsplit('/').next().unwrap_or_default();
    show(visit, Named::Term(Taxonomy::Category), slug, Some(&path)).await
}

pub async fn tag(visit: Visit, slug: Path<String>) -> HttpResponse {
    show(visit, Named::Term(Taxonomy::Tag), &slug, None).await
}

/// Shows the page with this slug, or redirects if it is an old slug. If it is neither, and a
/// category path ends with a view name such as `list`, redirects to the category.
async fn show(visit: Visit, named: Named, slug: &str, category: Option<&str>) -> HttpResponse {
    visit
        .reuse(Lasting::Second, async |reader| {
            let shown = match named {
                Named::Linked(kind) => linked(reader, kind, slug).await,
                Named::Term(taxonomy) => term(reader, taxonomy, slug, category).await,
                Named::Event => Err(Error::NoRoute),
            };
            match shown {
                Err(Error::NoRoute) => {
                    let view = || view_of_category(category?, reader);
                    match reader.moved(named, slug).await {
                        Err(Error::NoRoute) => Ok(moved_page(view().ok_or(Error::NoRoute)?)),
                        outcome => outcome,
                    }
                }
                outcome => outcome,
            }
        })
        .await
}

async fn linked(reader: &Reader, kind: Kind, slug: &str) -> Result<HttpResponse, Error> {
    let (state, request) = (&reader.state, &reader.request);
    if reader.query().as_calendar {
        let feed = pages::calendar_of_linked(state, request, kind, slug).await?;
        return reader.calendar(feed).await;
    }
    let (subject, list) = pages::linked_page(state, request, kind, slug).await?;
    let row = &subject.view;
    let calendar = format!("{}?ical=1", subject.path);
    let words = reader.words();
    let lines = row.lines.join(words.place_separator);
    let head = Head {
        title: row.name.clone(),
        description: match lines.is_empty() {
            true => (words.events_of)(&row.name),
            false => (words.events_at)(&row.name, &lines),
        },
        image: row.image.as_ref().map(|image| image.src.clone()).unwrap_or_default(),
        data: subject.data.clone(),
        origins: row.origins.clone(),
        path: PageQuery::default().href(&subject.path, list.page),
        calendar: calendar.clone(),
        single: true,
        ..Head::default()
    };
    let page = LinkedPage {
        root: reader.root(),
        lang: reader.page_query(),
        words,
        row,
        is_venue: kind == Kind::Venue,
        events: EventList::new(&list, reader, &plain(reader), &subject.path),
        subscription: reader.subscription(&calendar).of(list.total),
    };
    Ok(reader.show(&head, &page))
}

async fn term(
    reader: &Reader,
    taxonomy: Taxonomy,
    slug: &str,
    category: Option<&str>,
) -> Result<HttpResponse, Error> {
    let (state, request) = (&reader.state, &reader.request);
    if reader.query().as_calendar {
        let feed = pages::calendar_of_term(state, request, taxonomy, slug).await?;
        return reader.calendar(feed).await;
    }
    let may_redirect = request.query.is_past || category.is_some_and(|path| path.contains('/'));
    let first = match may_redirect {
        true => request.of_page(request.query.page.min(1)),
        false => request.clone(),
    };
    let (subject, mut list) = pages::term_page(state, &first, taxonomy, slug).await?;
    if category.is_some_and(|path| is_below_others(path, &subject.path)) {
        return Ok(moved_page(reader.with_query(subject.path)));
    }
    if reader.query().is_past {
        let (category, tag) = match taxonomy {
            Taxonomy::Category => (subject.parameter.1, String::new()),
            Taxonomy::Tag => (String::new(), subject.parameter.1),
        };
        let list = list_of(&PageQuery { category, tag, ..reader.query().clone() });
        return Ok(moved_page(list));
    }
    if first.query.page != request.query.page {
        (_, list) = pages::term_page(state, request, taxonomy, slug).await?;
    }
    let (words, term) = (reader.words(), &subject.view);
    let calendar = format!("{}?ical=1", subject.path);
    let head = Head {
        title: term.name.clone(),
        description: (words.upcoming_of)(&term.name),
        path: PageQuery::default().href(&subject.path, list.page),
        calendar: calendar.clone(),
        ..Head::default()
    };
    let page = TermPage {
        root: reader.root(),
        lang: reader.page_query(),
        words,
        term,
        is_category: taxonomy == Taxonomy::Category,
        events: EventList::new(&list, reader, &plain(reader), &subject.path),
        subscription: reader.subscription(&calendar).of(list.total),
    };
    Ok(reader.show(&head, &page))
}

/// Returns whether the ancestors in a category path differ from the ancestors in `page`. A path
/// without ancestors is fine.
fn is_below_others(path: &str, page: &str) -> bool {
    let slugs: Vec<String> = path.split('/').map(lookup_form).collect();
    slugs.len() > 1 && format!("/events/category/{}/", slugs.join("/")) != page
}

/// Returns the query for the list's other pages, which only contains the language.
fn plain(reader: &Reader) -> PageQuery {
    PageQuery { language: reader.query().language, ..PageQuery::default() }
}
