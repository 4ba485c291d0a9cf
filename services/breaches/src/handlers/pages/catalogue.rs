//! The catalogue pages and RSS feed.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderValue};
use actix_web::web::{Data, Path};
use askama::Template;
use shell::pages::Page;

use super::failure::PageError;
use super::form::Fields;
use super::visitor::Visitor;
use crate::app;
use crate::error::Error;
use crate::pages::{BreachPage, BreachView, CataloguePage, Feed, views};
use crate::state::State;

/// Maximum number of breaches in the feed.
const FEED: usize = 50;

/// Lists or searches breaches.
pub async fn catalogue(visitor: Visitor, fields: Fields, state: Data<State>) -> HttpResponse {
    let text = fields.text("q");
    let breaches = views(app::find_breaches(&state, text));
    let page = Page::new("Breaches")
        .current("breaches")
        .wide()
        .description("All breaches in the catalogue.")
        .feed("application/rss+xml", "New breaches", "feed.xml");
    visitor.respond(&page, &CataloguePage { text, breaches: &breaches })
}

/// Shows a single breach.
pub async fn breach_page(
    visitor: Visitor,
    name: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let breach: BreachView = app::listed_breach(&state, &name).ok_or(Error::NotFound)?.into();
    let page = Page::new(&breach.title).current("breaches");
    Ok(visitor.respond(&page, &BreachPage { breach: &breach }))
}

/// Returns the RSS feed of new breaches.
pub async fn feed(state: Data<State>) -> Result<HttpResponse, PageError> {
    let latest = views(app::summary(&state, FEED).latest);
    let feed = Feed { url: &state.external().public_url, breaches: &latest };
    let text = feed.render().map_err(|error| Error::Internal(error.to_string()))?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300")))
        .insert_header((header::VARY, HeaderValue::from_static("accept-encoding")))
        .content_type("application/rss+xml; charset=utf-8")
        .body(text))
}
