//! Decoding a write or a list never panics, regardless of the names and values of its parameters.
#![no_main]

use calendar::{
    Currency, EventInput, EventListInput, Input, Kind, Known, KnownTerms, Labels, LinkedInput,
    LinkedListInput, ListOptions, Names, Objects, Params, Role, SanitizedTexts, Taxonomy,
    TermInput, TermListInput, TermNames, Unit, Urls, User, WriteOptions, Zone,
};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;

/// Declared parameter names. The first byte of a fuzzed name selects one.
const NAMES: [&str; 53] = [
    "title",
    "description",
    "excerpt",
    "slug",
    "status",
    "author",
    "date",
    "date_utc",
    "start_date",
    "end_date",
    "timezone",
    "all_day",
    "cost",
    "website",
    "image",
    "featured",
    "categories",
    "tags",
    "venue",
    "organizer",
    "password",
    "context",
    "name",
    "parent",
    "show_map",
    "geo_lat",
    "geo_lng",
    "page",
    "per_page",
    "search",
    "include",
    "exclude",
    "order",
    "orderby",
    "starts_before",
    "starts_after",
    "ends_before",
    "ends_after",
    "strict_dates",
    "overlaps",
    "geoloc",
    "geoloc_lat",
    "geoloc_lng",
    "geoloc_radius",
    "geoloc_unit",
    "post_parent",
    "series",
    "collapse",
    "recurrence",
    "scope",
    "hide_empty",
    "venue[venue]",
    "organizer[0][organizer]",
];

/// Returns the known rows of a full or an empty calendar.
fn known(input: &impl Input, urls: &Urls, all: bool) -> Known {
    if !all {
        return Known::default();
    }
    let Names { users, events, series, images, venues, organizers, categories, tags, objects } =
        input.names(urls);
    let terms = |TermNames { ids, slugs }: TermNames| KnownTerms {
        ids: ids.into_iter().collect(),
        slugs: slugs.into_iter().map(|slug| (slug, 1)).collect(),
    };
    Known {
        users: users.into_iter().collect(),
        events: events.into_iter().collect(),
        series: series.into_iter().collect(),
        images: images.into_iter().collect(),
        venues: venues.into_iter().collect(),
        organizers: organizers.into_iter().collect(),
        categories: terms(categories),
        tags: terms(tags),
        objects: Objects(objects.into_iter().map(|object| (object, Labels::default())).collect()),
    }
}

fuzz_target!(|data: (bool, Vec<(u8, &str, &str)>, &str)| {
    let (all, pairs, json) = data;
    let name = |choice: u8, rest: &str| match NAMES.get(usize::from(choice)) {
        Some(name) if rest.starts_with('[') => format!("{name}{rest}"),
        Some(name) => (*name).to_owned(),
        None => rest.to_owned(),
    };
    let pairs: Vec<(String, &str)> =
        pairs.into_iter().map(|(choice, rest, value)| (name(choice, rest), value)).collect();
    let params = Params::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), *value)));
    let params = params.overlaid(Params::from_json(serde_json::from_str(json).unwrap_or_default()));

    let user = User { id: 1, login: "ann".to_owned(), role: Role::Administrator };
    let zone = Zone::named("Europe/Vienna").unwrap_or_else(Zone::utc);
    let currency = Currency { symbol: "$".to_owned(), prefix: true, code: String::new() };
    let urls = Urls { base: "http://calendar.example".to_owned(), ..Urls::default() };
    let now = Timestamp::UNIX_EPOCH;
    let writer = WriteOptions {
        user: &user,
        zone: &zone,
        currency: &currency,
        urls: &urls,
        now,
        unfiltered_html: false,
        sanitized: &SanitizedTexts::default(),
    };
    let input = EventInput::read(&params, true);
    let found = known(&input, &urls, all);
    let _ = input.decode(&found, writer, None);
    for kind in [Kind::Venue, Kind::Organizer] {
        let input = LinkedInput::read(&params, kind, true);
        let found = known(&input, &urls, all);
        let _ = input.decode(&found, writer);
    }
    let lister = ListOptions {
        actor: &Some(user.clone()),
        zone: &zone,
        now,
        per_page: 10,
        per_page_max: 50,
        geo_radius: 25.0,
        geo_unit: Unit::Miles,
    };
    let input = EventListInput::read(&params);
    let found = known(&input, &urls, all);
    let _ = input.decode(&found, lister);
    let input = LinkedListInput::read(&params);
    let found = known(&input, &urls, all);
    let _ = input.decode(&found, lister);
    for taxonomy in [Taxonomy::Category, Taxonomy::Tag] {
        let input = TermInput::read(&params, taxonomy, true);
        let found = known(&input, &urls, all);
        let _ = input.decode(&found);
        let input = TermListInput::read(&params, taxonomy);
        let found = known(&input, &urls, all);
        let _ = input.decode(&found, lister);
    }
});
