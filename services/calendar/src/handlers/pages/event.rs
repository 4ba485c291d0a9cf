//! The event page, including the password form for protected events.

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use actix_web::web::{Path, Payload};
use askama::Template;

use super::super::reuse::Lasting;
use super::head::Head;
use super::visit::{Reader, Subscription, Visit};
use crate::app::pages::{self, Named};
use crate::error::Error;
use crate::model::language::{Words, sentences};
use crate::model::slug::SEPARATOR;
use crate::wire::pages::event::EventView;

/// Maximum form size in bytes.
const FORM_LIMIT: usize = 16 << 10;

#[derive(Template)]
#[template(path = "event.html")]
struct EventPage<'a> {
    event: &'a EventView,
    root: &'a str,
    /// The query string for links to other pages.
    lang: &'a str,
    words: &'static Words,
    /// The status, as a sentence.
    status: String,
    /// Whether the visitor sent the wrong password.
    wrong: bool,
    subscription: Subscription,
    /// The URL of the series' iCalendar file. Empty if there isn't one.
    series_file: String,
}

/// Shows an event.
pub async fn event(visit: Visit, slug: Path<String>) -> HttpResponse {
    visit
        .reuse(Lasting::Second, async |reader| match shown(reader, &slug).await {
            Err(Error::NoRoute) => without_event(reader, &slug).await,
            outcome => outcome,
        })
        .await
}

/// Shows an event that belongs to a series.
pub async fn occurrence(visit: Visit, path: Path<(String, String)>) -> HttpResponse {
    event(visit, Path::from(slug_of(&path))).await
}

/// Shows a protected event that belongs to a series, if the password is correct.
pub async fn unlock_occurrence(
    visit: Visit,
    path: Path<(String, String)>,
    payload: Payload,
) -> HttpResponse {
    unlock(visit, Path::from(slug_of(&path)), payload).await
}

fn slug_of(path: &(String, String)) -> String {
    format!("{}{SEPARATOR}{}", path.0, path.1)
}

/// Responds if there is no event with this slug. It might be an old slug or a series slug.
async fn without_event(reader: &Reader, slug: &str) -> Result<HttpResponse, Error> {
    if reader.query().as_calendar {
        match pages::calendar_of_series(&reader.state, &reader.request, slug).await {
            Err(Error::NoRoute) => {}
            feed => return reader.calendar(feed?).await,
        }
    }
    match reader.moved(Named::Event, slug).await {
        Err(Error::NoRoute) => {}
        outcome => return outcome,
    }
    if reader.query().as_calendar {
        match pages::calendar_of_trashed(&reader.state, &reader.request, slug).await {
            Err(Error::NoRoute) => {}
            feed => return reader.calendar(feed?).await,
        }
    }
    next_of_series(reader, slug).await
}

/// Redirects from a series slug to the next event, keeping the query.
async fn next_of_series(reader: &Reader, slug: &str) -> Result<HttpResponse, Error> {
    // The query already contains the language.
    let urls = reader.urls().in_default_language();
    let request = pages::PageRequest { urls, ..reader.request.clone() };
    let path = pages::next_of_series(&reader.state, &request, slug).await?;
    let location = reader.with_query(path);
    Ok(HttpResponse::Found().insert_header((header::LOCATION, location)).finish())
}

async fn shown(reader: &Reader, slug: &str) -> Result<HttpResponse, Error> {
    if reader.query().as_calendar {
        let feed = pages::calendar_of_event(&reader.state, &reader.request, slug).await?;
        return reader.calendar(feed).await;
    }
    let event = pages::event_page(&reader.state, &reader.request, slug, None).await?;
    let (head, page) = page(reader, &event, false);
    Ok(match event.locked {
        true => refused(reader.show_private(&head, &page)),
        false => reader.show(&head, &page),
    })
}

/// Shows a protected event if the password is correct.
pub async fn unlock(visit: Visit, slug: Path<String>, payload: Payload) -> HttpResponse {
    visit
        .answer(async |reader| {
            let form = reader.form(payload, FORM_LIMIT).await?;
            let sent = form.text("password").unwrap_or_default().to_owned();
            let event =
                pages::event_page(&reader.state, &reader.request, &slug, Some(sent)).await?;
            let (head, page) = page(reader, &event, event.locked);
            let response = reader.show_private(&head, &page);
            Ok(if event.locked { refused(response) } else { response })
        })
        .await
}

/// Sets the status that the API returns for a protected event.
fn refused(mut response: HttpResponse) -> HttpResponse {
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

fn page<'a>(reader: &'a Reader, event: &'a EventView, wrong: bool) -> (Head, EventPage<'a>) {
    let path = format!("/{}", event.path);
    let calendar = format!("{path}?ical=1");
    let words = reader.words();
    let facts = match event.place.as_str() {
        "" => event.when.clone(),
        place => format!("{}{}{place}", event.when, words.place_separator),
    };
    let head = Head {
        title: event.title.clone(),
        description: match event.summary.as_str() {
            "" => facts,
            summary => sentences(&reader.language().sentence(&facts), summary),
        },
        image: event.image.as_ref().map(|image| image.src.clone()).unwrap_or_default(),
        calendar: calendar.clone(),
        data: event.data.clone(),
        origins: event.origins.clone(),
        unindexed: event.data.is_empty(),
        single: true,
        path,
        ..Head::default()
    };
    let subscription = reader.subscription(&calendar);
    let series_file = match event.series_path.as_str() {
        "" => String::new(),
        path => reader.subscription(&format!("/{path}?ical=1")).url,
    };
    let (root, lang) = (reader.root(), reader.page_query());
    let status = reader.language().sentence(event.status);
    (head, EventPage { event, root, lang, words, status, wrong, subscription, series_file })
}
