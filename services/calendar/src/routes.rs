//! Every path of the service, in the order of the documentation.

use std::borrow::Cow;

use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use shell::{Next, Shell};
use url::form_urlencoded;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::handlers::{categories, edge, events, index, media, organizers, tags, venues};

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

/// Registers all handlers.
pub fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(index::get_index)
        .service(index::get_documentation)
        .service(events::list_events)
        .service(events::create_event)
        .service(events::get_event)
        .service(events::post_event)
        .service(events::update_event)
        .service(events::patch_event)
        .service(events::delete_event)
        .service(events::get_event_by_slug)
        .service(events::post_event_by_slug)
        .service(events::update_event_by_slug)
        .service(events::patch_event_by_slug)
        .service(events::delete_event_by_slug);
    linked_routes(config);
    term_routes(config);
    // Not part of the interface, so not in its document.
    config.map(|config| config.service(media::get_media));
}

fn linked_routes(config: &mut ServiceConfig<'_>) {
    config
        .service(venues::list_venues)
        .service(venues::create_venue)
        .service(venues::get_venue)
        .service(venues::post_venue)
        .service(venues::update_venue)
        .service(venues::patch_venue)
        .service(venues::delete_venue)
        .service(venues::get_venue_by_slug)
        .service(venues::post_venue_by_slug)
        .service(venues::update_venue_by_slug)
        .service(venues::patch_venue_by_slug)
        .service(venues::delete_venue_by_slug)
        .service(organizers::list_organizers)
        .service(organizers::create_organizer)
        .service(organizers::get_organizer)
        .service(organizers::post_organizer)
        .service(organizers::update_organizer)
        .service(organizers::patch_organizer)
        .service(organizers::delete_organizer)
        .service(organizers::get_organizer_by_slug)
        .service(organizers::post_organizer_by_slug)
        .service(organizers::update_organizer_by_slug)
        .service(organizers::patch_organizer_by_slug)
        .service(organizers::delete_organizer_by_slug);
}

fn term_routes(config: &mut ServiceConfig<'_>) {
    config
        .service(categories::list_categories)
        .service(categories::create_category)
        .service(categories::get_category)
        .service(categories::post_category)
        .service(categories::update_category)
        .service(categories::patch_category)
        .service(categories::delete_category)
        .service(tags::list_tags)
        .service(tags::create_tag)
        .service(tags::get_tag)
        .service(tags::post_tag)
        .service(tags::update_tag)
        .service(tags::patch_tag)
        .service(tags::delete_tag);
}

/// Hides passwords of events in a request target, however their name is encoded.
pub fn redact(uri: &Uri) -> Cow<'_, str> {
    let target = Shell::path_and_query(uri);
    let Some((path, query)) = target.split_once('?') else { return target };
    let parts = query.split('&').map(|part| {
        let name = form_urlencoded::parse(part.as_bytes()).next().map(|(name, _)| name);
        let is_password = name.is_some_and(|name| name.split('[').next() == Some("password"));
        if is_password { "password=***" } else { part }
    });
    Cow::Owned(format!("{path}?{}", parts.collect::<Vec<_>>().join("&")))
}
