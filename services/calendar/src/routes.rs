//! Every operation of the service in the order of the documentation.

use std::borrow::Cow;

use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::web;
use shell::{Next, Operations, PathRules, Routes};

use crate::handlers::{
    categories, edge, events, ical, images, imports, index, media, organizers, pages, tags, venues,
};

/// Which spellings of a path are the same.
pub const PATHS: PathRules = PathRules::NO_TRAILING_SLASH;

/// Query parameters that no log shows.
const SECRETS: [&str; 1] = ["password"];

/// Handles what all operations have in common, round the handler.
///
/// # Errors
/// What the handler answers.
pub async fn around(
    request: ServiceRequest,
    next: Next,
    site: (bool, i64),
) -> Result<ServiceResponse, actix_web::Error> {
    edge::around(request, next, site).await
}

/// Adds the operations.
pub fn register(routes: &mut Routes<'_>) {
    routes.add(index::get_index);
    routes.add(index::get_documentation);
    add_events(routes);
    add_venues(routes);
    add_organizers(routes);
    add_categories(routes);
    add_tags(routes);
    routes.add(ical::export_ical);
    routes.add(imports::import_ical);
    routes.add(images::create_image);
    routes.add(images::get_image);
    add_pages(routes);
    // Not part of the interface, so not in its document.
    routes.beside(|config| {
        config.service(media::get_media);
    });
}

/// Adds the pages for people, which are no part of the document.
fn add_pages(routes: &mut Routes<'_>) {
    use pages::{event, list, month, subjects};
    let (get, post) = (web::get, web::post);
    for (path, route) in [
        ("/", get().to(list::home)),
        ("/events", get().to(list::list)),
        ("/events/month", get().to(month::this_month)),
        ("/events/month/{month}", get().to(month::month)),
        ("/events/category/{path:.+}", get().to(subjects::category)),
        ("/event/{slug}", get().to(event::event)),
        ("/event/{slug}", post().to(event::unlock)),
        ("/venue/{slug}", get().to(subjects::venue)),
        ("/organizer/{slug}", get().to(subjects::organizer)),
        ("/tag/{slug}", get().to(subjects::tag)),
    ] {
        routes.page(path, route);
    }
    routes.assets(&pages::SITE);
}

fn add_events(routes: &mut Routes<'_>) {
    routes.add(events::list_events);
    routes.add(events::create_event);
    routes.add(events::get_event);
    routes.add(events::post_event);
    routes.add(events::update_event);
    routes.add(events::patch_event);
    routes.add(events::delete_event);
    routes.add(events::get_event_by_slug);
    routes.add(events::post_event_by_slug);
    routes.add(events::update_event_by_slug);
    routes.add(events::patch_event_by_slug);
    routes.add(events::delete_event_by_slug);
}

fn add_venues(routes: &mut Routes<'_>) {
    routes.add(venues::list_venues);
    routes.add(venues::create_venue);
    routes.add(venues::get_venue);
    routes.add(venues::post_venue);
    routes.add(venues::update_venue);
    routes.add(venues::patch_venue);
    routes.add(venues::delete_venue);
    routes.add(venues::get_venue_by_slug);
    routes.add(venues::post_venue_by_slug);
    routes.add(venues::update_venue_by_slug);
    routes.add(venues::patch_venue_by_slug);
    routes.add(venues::delete_venue_by_slug);
}

fn add_organizers(routes: &mut Routes<'_>) {
    routes.add(organizers::list_organizers);
    routes.add(organizers::create_organizer);
    routes.add(organizers::get_organizer);
    routes.add(organizers::post_organizer);
    routes.add(organizers::update_organizer);
    routes.add(organizers::patch_organizer);
    routes.add(organizers::delete_organizer);
    routes.add(organizers::get_organizer_by_slug);
    routes.add(organizers::post_organizer_by_slug);
    routes.add(organizers::update_organizer_by_slug);
    routes.add(organizers::patch_organizer_by_slug);
    routes.add(organizers::delete_organizer_by_slug);
}

fn add_categories(routes: &mut Routes<'_>) {
    routes.add(categories::list_categories);
    routes.add(categories::create_category);
    routes.add(categories::get_category);
    routes.add(categories::post_category);
    routes.add(categories::update_category);
    routes.add(categories::patch_category);
    routes.add(categories::delete_category);
}

fn add_tags(routes: &mut Routes<'_>) {
    routes.add(tags::list_tags);
    routes.add(tags::create_tag);
    routes.add(tags::get_tag);
    routes.add(tags::post_tag);
    routes.add(tags::update_tag);
    routes.add(tags::patch_tag);
    routes.add(tags::delete_tag);
}

/// A request target without the passwords of events and without what no operation knows.
pub fn redact<'u>(operations: &Operations, uri: &'u Uri) -> Cow<'u, str> {
    operations.redact_query(uri, &SECRETS)
}
