//! Decoding a write or a list never panics, whatever the names and values of its parameters.
#![no_main]

use std::collections::{HashMap, HashSet};

use calendar::{
    Currency, Kind, ListOptions, Lookup, Params, Role, SanitizedTexts, Taxonomy, Unit, Urls, User,
    WriteOptions, Zone, decode_event, decode_event_list, decode_linked, decode_linked_list,
    decode_term, decode_term_list,
};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;

/// Declared parameter names. The first byte of a fuzzed name selects one.
const NAMES: [&str; 48] = [
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
    "hide_empty",
    "venue[venue]",
    "organizer[0][organizer]",
];

/// A lookup that finds everything, or nothing.
struct All(bool);

impl Lookup for All {
    fn user(&mut self, _: i64) -> bool {
        self.0
    }
    fn event(&mut self, _: i64) -> bool {
        self.0
    }
    fn image(&mut self, _: i64) -> bool {
        self.0
    }
    fn linked(&mut self, _: Kind, ids: &[i64]) -> HashSet<i64> {
        ids.iter().copied().filter(|_| self.0).collect()
    }
    fn term(&mut self, _: Taxonomy, _: i64) -> bool {
        self.0
    }
    fn terms(&mut self, _: Taxonomy, ids: &[i64]) -> HashSet<i64> {
        ids.iter().copied().filter(|_| self.0).collect()
    }
    fn terms_by_slug(&mut self, _: Taxonomy, slugs: &[String]) -> HashMap<String, i64> {
        slugs.iter().filter(|_| self.0).map(|slug| (slug.clone(), 1)).collect()
    }
}

fuzz_target!(|data: (bool, Vec<(u8, &str, &str)>, &str)| {
    let (known, pairs, json) = data;
    let name = |choice: u8, rest: &str| match NAMES.get(usize::from(choice)) {
        Some(name) if rest.starts_with('[') => format!("{name}{rest}"),
        Some(name) => (*name).to_owned(),
        None => rest.to_owned(),
    };
    let pairs: Vec<(String, &str)> =
        pairs.into_iter().map(|(choice, rest, value)| (name(choice, rest), value)).collect();
    let params = Params::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), *value)));
    let params = params.overlaid(Params::from_json(serde_json::from_str(json).unwrap_or_default()));

    let lookup = &mut All(known);
    let user = User { id: 1, login: "ann".to_owned(), role: Role::Administrator };
    let zone = Zone::named("Europe/Vienna").unwrap_or_else(Zone::utc);
    let currency = Currency { symbol: "$".to_owned(), prefix: true, code: String::new() };
    let urls = Urls { base: "http://calendar.example".to_owned(), alias: false };
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
    let _ = decode_event(&params, lookup, writer, None);
    for kind in [Kind::Venue, Kind::Organizer] {
        let _ = decode_linked(&params, lookup, kind, writer, true);
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
    let _ = decode_event_list(&params, lookup, lister);
    let _ = decode_linked_list(&params, lookup, lister);
    for taxonomy in [Taxonomy::Category, Taxonomy::Tag] {
        let _ = decode_term(&params, lookup, taxonomy, true);
        let _ = decode_term_list(&params, lookup, taxonomy, lister);
    }
});
