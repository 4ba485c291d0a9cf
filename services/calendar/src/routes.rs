//! Every path of the service, in the order of the documentation.

use utoipa_actix_web::service_config::ServiceConfig;

use crate::handlers::{events, index, linked, media, terms};

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
    // Lies beside the interface and so not in its document.
    config.map(|config| config.service(media::get_media));
}

fn linked_routes(config: &mut ServiceConfig<'_>) {
    config
        .service(linked::list_venues)
        .service(linked::create_venue)
        .service(linked::get_venue)
        .service(linked::post_venue)
        .service(linked::update_venue)
        .service(linked::patch_venue)
        .service(linked::delete_venue)
        .service(linked::get_venue_by_slug)
        .service(linked::post_venue_by_slug)
        .service(linked::update_venue_by_slug)
        .service(linked::patch_venue_by_slug)
        .service(linked::delete_venue_by_slug)
        .service(linked::list_organizers)
        .service(linked::create_organizer)
        .service(linked::get_organizer)
        .service(linked::post_organizer)
        .service(linked::update_organizer)
        .service(linked::patch_organizer)
        .service(linked::delete_organizer)
        .service(linked::get_organizer_by_slug)
        .service(linked::post_organizer_by_slug)
        .service(linked::update_organizer_by_slug)
        .service(linked::patch_organizer_by_slug)
        .service(linked::delete_organizer_by_slug);
}

fn term_routes(config: &mut ServiceConfig<'_>) {
    config
        .service(terms::list_categories)
        .service(terms::create_category)
        .service(terms::get_category)
        .service(terms::post_category)
        .service(terms::update_category)
        .service(terms::patch_category)
        .service(terms::delete_category)
        .service(terms::list_tags)
        .service(terms::create_tag)
        .service(terms::get_tag)
        .service(terms::post_tag)
        .service(terms::update_tag)
        .service(terms::patch_tag)
        .service(terms::delete_tag);
}
