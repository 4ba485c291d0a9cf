//! All of the service's operations, in documentation order.

use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderName;
use actix_web::web;
use shell::{Next, PathRules, Routes};

use crate::handlers::{
    categories, edge, events, ical, images, imports, index, media, organizers, pages,
    subscriptions, tags, venues,
};
use crate::openapi::{
    CATEGORY_FIELDS, CATEGORY_LIST, EVENT_DELETE, EVENT_FIELDS, EVENT_LIST, EVENT_READ, FEED,
    INDEX, ITEM, LINKED_DELETE, LINKED_LIST, ORGANIZER_FIELDS, RELEASE_FIELDS, SUBSCRIBED_EVENTS,
    SUBSCRIPTION_DELETE, SUBSCRIPTION_FIELDS, TAG_FIELDS, TAG_LIST, VENUE_FIELDS,
};
use crate::policy::CREDENTIALS;

/// Trailing slashes are ignored.
pub const PATHS: PathRules = PathRules::NO_TRAILING_SLASH;

/// Wraps the handler of every operation.
///
/// # Errors
/// Returns the error from the handler.
pub async fn around(
    request: ServiceRequest,
    next: Next,
    site: (bool, i64),
) -> Result<ServiceResponse, actix_web::Error> {
    edge::around(request, next, site).await
}

/// Returns the headers that identify the caller if responses on this path depend on the caller.
/// This is never the case for pages.
pub fn credentials(path: &str) -> &'static [HeaderName] {
    if edge::is_api_path(path) { &CREDENTIALS } else { &[] }
}

/// Registers all operations.
pub fn register(routes: &mut Routes<'_>) {
    routes.add(index::get_index).attach(INDEX);
    routes.add(index::get_documentation);
    add_events(routes);
    add_venues(routes);
    add_organizers(routes);
    add_categories(routes);
    add_tags(routes);
    routes.add(ical::export_ical).attach(FEED);
    routes.add(imports::import_ical);
    routes.add(images::create_image);
    routes.add(images::get_image);
    add_subscriptions(routes);
    add_pages(routes);
    // Image files aren't part of the API, so the OpenAPI document omits them.
    routes.configure(|config| {
        config.service(media::get_media);
    });
}

/// Registers the HTML pages, which the OpenAPI document omits.
fn add_pages(routes: &mut Routes<'_>) {
    use pages::subscriptions as subscription_pages;
    use pages::{atom, embed, event, list, month, period, recorded, site_map, subjects};
    let (get, post) = (web::get, web::post);
    for (path, route) in [
        ("/", get().to(recorded::home)),
        ("/events", get().to(list::list)),
        ("/events/day", get().to(period::today)),
        ("/events/day/{day}", get().to(period::day)),
        ("/events/week", get().to(period::this_week)),
        ("/events/week/{week}", get().to(period::week)),
        ("/events/month", get().to(month::this_month)),
        ("/events/month/{month}", get().to(month::month)),
        ("/events/category/{path:.+}", get().to(subjects::category)),
        ("/events/tag/{path:.+}", get().to(recorded::tag)),
        ("/event/{slug}", get().to(event::event)),
        ("/event/{slug}", post().to(event::unlock)),
        ("/event/{name}/{date}", get().to(event::occurrence)),
        ("/event/{name}/{date}", post().to(event::unlock_occurrence)),
        ("/venue/{slug}", get().to(subjects::venue)),
        ("/organizer/{slug}", get().to(subjects::organizer)),
        ("/tag/{slug}", get().to(subjects::tag)),
        ("/subscriptions", get().to(subscription_pages::list)),
        ("/subscriptions", post().to(subscription_pages::change)),
        ("/events/list", get().to(recorded::list)),
        ("/events/page/{number:[0-9]{1,9}}", get().to(recorded::page)),
        ("/events/list/page/{number:[0-9]{1,9}}", get().to(recorded::page)),
        ("/events/today", get().to(recorded::today)),
        ("/feed", get().to(recorded::feed)),
        ("/events/atom.xml", get().to(atom::feed)),
        ("/events/{day}", get().to(recorded::day)),
        ("/embed/list", get().to(embed::list)),
        ("/embed/month", get().to(embed::month)),
        ("/embed.js", get().to(embed::script)),
        ("/robots.txt", get().to(site_map::robots)),
        ("/sitemap.xml", get().to(site_map::index)),
        ("/sitemap/{part}", get().to(site_map::part)),
        ("/favicon.ico", get().to(recorded::icon)),
    ] {
        routes.page(path, route);
    }
    routes.assets(&pages::SITE);
}

fn add_events(routes: &mut Routes<'_>) {
    routes.add(events::list_events).attach(EVENT_LIST);
    routes.add(events::create_event).attach(EVENT_FIELDS);
    routes.add(events::get_event).attach(EVENT_READ);
    routes.add(events::post_event).attach(EVENT_FIELDS);
    routes.add(events::update_event).attach(EVENT_FIELDS);
    routes.add(events::patch_event).attach(EVENT_FIELDS);
    routes.add(events::delete_event).attach(EVENT_DELETE);
    routes.add(events::get_event_by_slug).attach(EVENT_READ);
    routes.add(events::post_event_by_slug).attach(EVENT_FIELDS.renaming());
    routes.add(events::update_event_by_slug).attach(EVENT_FIELDS.renaming());
    routes.add(events::patch_event_by_slug).attach(EVENT_FIELDS.renaming());
    routes.add(events::delete_event_by_slug).attach(EVENT_DELETE);
}

fn add_venues(routes: &mut Routes<'_>) {
    routes.add(venues::list_venues).attach(LINKED_LIST);
    routes.add(venues::create_venue).attach(VENUE_FIELDS);
    routes.add(venues::get_venue).attach(ITEM);
    routes.add(venues::post_venue).attach(VENUE_FIELDS);
    routes.add(venues::update_venue).attach(VENUE_FIELDS);
    routes.add(venues::patch_venue).attach(VENUE_FIELDS);
    routes.add(venues::delete_venue).attach(LINKED_DELETE);
    routes.add(venues::get_venue_by_slug).attach(ITEM);
    routes.add(venues::post_venue_by_slug).attach(VENUE_FIELDS);
    routes.add(venues::update_venue_by_slug).attach(VENUE_FIELDS);
    routes.add(venues::patch_venue_by_slug).attach(VENUE_FIELDS);
    routes.add(venues::delete_venue_by_slug).attach(LINKED_DELETE);
}

fn add_organizers(routes: &mut Routes<'_>) {
    routes.add(organizers::list_organizers).attach(LINKED_LIST);
    routes.add(organizers::create_organizer).attach(ORGANIZER_FIELDS);
    routes.add(organizers::get_organizer).attach(ITEM);
    routes.add(organizers::post_organizer).attach(ORGANIZER_FIELDS);
    routes.add(organizers::update_organizer).attach(ORGANIZER_FIELDS);
    routes.add(organizers::patch_organizer).attach(ORGANIZER_FIELDS);
    routes.add(organizers::delete_organizer).attach(LINKED_DELETE);
    routes.add(organizers::get_organizer_by_slug).attach(ITEM);
    routes.add(organizers::post_organizer_by_slug).attach(ORGANIZER_FIELDS);
    routes.add(organizers::update_organizer_by_slug).attach(ORGANIZER_FIELDS);
    routes.add(organizers::patch_organizer_by_slug).attach(ORGANIZER_FIELDS);
    routes.add(organizers::delete_organizer_by_slug).attach(LINKED_DELETE);
}

fn add_categories(routes: &mut Routes<'_>) {
    routes.add(categories::list_categories).attach(CATEGORY_LIST);
    routes.add(categories::create_category).attach(CATEGORY_FIELDS);
    routes.add(categories::get_category).attach(ITEM);
    routes.add(categories::post_category).attach(CATEGORY_FIELDS);
    routes.add(categories::update_category).attach(CATEGORY_FIELDS);
    routes.add(categories::patch_category).attach(CATEGORY_FIELDS);
    routes.add(categories::delete_category).attach(ITEM);
}

fn add_subscriptions(routes: &mut Routes<'_>) {
    routes.add(subscriptions::list_subscriptions).attach(ITEM);
    routes.add(subscriptions::create_subscription).attach(SUBSCRIPTION_FIELDS);
    routes.add(subscriptions::get_subscription).attach(ITEM);
    routes.add(subscriptions::patch_subscription).attach(SUBSCRIPTION_FIELDS);
    routes.add(subscriptions::delete_subscription).attach(SUBSCRIPTION_DELETE);
    routes.add(subscriptions::list_subscribed_events).attach(SUBSCRIBED_EVENTS);
    routes.add(subscriptions::release_subscribed_event).attach(RELEASE_FIELDS);
    routes.add(subscriptions::run_subscription).attach(ITEM);
    routes.add(subscriptions::pause_subscription).attach(ITEM);
    routes.add(subscriptions::resume_subscription).attach(ITEM);
    routes.add(subscriptions::accept_subscription).attach(ITEM);
}

fn add_tags(routes: &mut Routes<'_>) {
    routes.add(tags::list_tags).attach(TAG_LIST);
    routes.add(tags::create_tag).attach(TAG_FIELDS);
    routes.add(tags::get_tag).attach(ITEM);
    routes.add(tags::post_tag).attach(TAG_FIELDS);
    routes.add(tags::update_tag).attach(TAG_FIELDS);
    routes.add(tags::patch_tag).attach(TAG_FIELDS);
    routes.add(tags::delete_tag).attach(ITEM);
}
