//! The query of the list of events.

use serde_json::Value;

use super::query::{
    ListOptions, ListRequest, default_status, descending, existing_event, paging, repeated, scope,
    search,
};
use crate::model::geo::{Point, Unit};
use crate::model::linked::Kind;
use crate::model::list::{EventFilter, EventOrder, Geo, Scope};
use crate::model::schedule::wall_seconds;
use crate::model::search::Words;
use crate::model::slug;
use crate::model::term::Taxonomy;
use crate::model::when::When;
use crate::model::window::{Bounds, Defaults, Window};
use crate::wire::args;
use crate::wire::dates::written;
use crate::wire::decode::{Decoder, ParameterErrors, text};
use crate::wire::lookup::Lookup;
use crate::wire::params::Params;

/// Reads the query of the list of events.
pub fn events(
    params: &Params,
    lookup: &mut dyn Lookup,
    lister: ListOptions<'_>,
) -> Result<ListRequest<EventFilter>, ParameterErrors> {
    let mut decoder = Decoder::new(params);
    let d = &mut decoder;
    let paging = paging(d, lister);
    let (window, defaults) = window(d, lister);
    let words = search(d).map(|text| Words::parse(&text)).unwrap_or_default();
    if words.count() > Words::MOST {
        d.fail("search", format!("must have at most {} words", Words::MOST));
    }
    let categories = named_terms(d, lookup, Taxonomy::Category);
    let tags = named_terms(d, lookup, Taxonomy::Tag);
    let venues = linked(d, lookup, Kind::Venue);
    let organizers = linked(d, lookup, Kind::Organizer);
    let featured = d.boolean("featured");
    let scope = scope(d, lister.actor);
    let geo = geo(d, lister);
    let include = d.ids("include");
    let parent = existing_event(d, lookup, "post_parent");
    let matches_nothing = d.boolean("ticketed") == Some(true);
    let descending = descending(d);
    let usual = if include.is_some() { EventOrder::Date } else { EventOrder::Start };
    let order = event_order(d).unwrap_or(usual);
    d.short_text("password");
    let mut query = repeated(params, args::EVENT_LIST, paging);
    let window = if include.is_some() {
        Window::default()
    } else {
        query.extend(written_defaults(defaults));
        window
    };
    query.extend(default_status(params, lister.actor));
    let filter = EventFilter {
        scope,
        window,
        words,
        categories,
        tags,
        venues,
        organizers,
        featured,
        include,
        parent,
        geo,
        venue_scope: Scope::of(lister.actor, None).unwrap_or_else(Scope::public),
        matches_nothing,
        order,
        descending,
    };
    decoder.finish(ListRequest { filter, paging, query })
}

fn written_defaults(defaults: Defaults) -> impl Iterator<Item = (String, String)> {
    [("start_date", defaults.start_date), ("end_date", defaults.end_date)]
        .into_iter()
        .filter_map(|(name, wall)| Some((name.to_owned(), written(wall_seconds(wall?)))))
}

fn window(d: &mut Decoder<'_>, lister: ListOptions<'_>) -> (Window, Defaults) {
    let mut when = |name: &'static str| {
        d.check(name, |value| {
            let when = When::parse(&text(value)?).map_err(|_| "must be a date")?;
            // Whatever the mode, the text has to mean a moment in the zone of the site.
            let moment = when.resolve(lister.zone, lister.now).map_err(|_| "must be a date")?;
            moment.instant(lister.zone).map_err(|_| "must be a date")?;
            Ok(when)
        })
    };
    let mut bounds = Bounds {
        start_date: when("start_date"),
        end_date: when("end_date"),
        starts_before: when("starts_before"),
        starts_after: when("starts_after"),
        ends_before: when("ends_before"),
        ends_after: when("ends_after"),
        strict: false,
        overlaps: false,
    };
    bounds.strict = strict_dates(d);
    bounds.overlaps = d.boolean("overlaps").unwrap_or(false);
    bounds.window(lister.zone, lister.now).unwrap_or_else(|_| {
        d.fail("start_date", "must be a date");
        (Window::default(), Defaults::default())
    })
}

fn strict_dates(d: &Decoder<'_>) -> bool {
    match d.raw("strict_dates") {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => {
            matches!(text.to_ascii_lowercase().as_str(), "1" | "true" | "on" | "yes")
        }
        _ => false,
    }
}

/// Reads terms to filter by: each member as slug, then as id, then as a name in its slug form.
fn named_terms(
    d: &mut Decoder<'_>,
    lookup: &mut dyn Lookup,
    taxonomy: Taxonomy,
) -> Option<Vec<i64>> {
    let words = d.words(taxonomy.collection())?;
    let ids: Vec<i64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let slugs: Vec<String> =
        words.iter().flat_map(|word| [word.to_lowercase(), slug::slugify(word)]).collect();
    let (ids, slugs) = (lookup.terms(taxonomy, &ids), lookup.terms_by_slug(taxonomy, &slugs));
    let known = |word: &String| {
        let id = word.parse().ok().filter(|id| ids.contains(id));
        let named = || slugs.get(&slug::slugify(word)).copied();
        slugs.get(&word.to_lowercase()).copied().or(id).or_else(named)
    };
    let found: Option<Vec<i64>> = words.iter().map(known).collect();
    let found = found.filter(|ids| !ids.is_empty());
    if found.is_none() {
        d.fail(taxonomy.collection(), "must name existing terms");
    }
    found
}

fn linked(d: &mut Decoder<'_>, lookup: &mut dyn Lookup, kind: Kind) -> Option<Vec<i64>> {
    let ids = d.ids(kind.word())?;
    if ids.is_empty() || lookup.linked(kind, &ids).len() < ids.len() {
        d.fail(kind.word(), "must be a list of existing ids");
    }
    Some(ids)
}

fn geo(d: &mut Decoder<'_>, lister: ListOptions<'_>) -> Option<Geo> {
    let known = d.boolean("geoloc");
    let lat = d.number("geoloc_lat", -90.0, 90.0);
    let lng = d.number("geoloc_lng", -180.0, 180.0);
    let radius = d.number("geoloc_radius", f64::MIN_POSITIVE, 100_000.0);
    let unit =
        d.check("geoloc_unit", |value| Unit::named(&text(value)?).ok_or("must be miles or km"));
    match (d.raw("geoloc_lat").is_some(), d.raw("geoloc_lng").is_some()) {
        (true, false) => d.fail("geoloc_lat", "needs geoloc_lng"),
        (false, true) => d.fail("geoloc_lng", "needs geoloc_lat"),
        _ => {}
    }
    if let (Some(lat), Some(lng)) = (lat, lng) {
        let length = radius.unwrap_or(lister.geo_radius);
        let km = unit.unwrap_or(lister.geo_unit).to_km(length);
        return Some(Geo::Near { point: Point { lat, lng }, km });
    }
    (known == Some(true)).then_some(Geo::Known)
}

fn event_order(d: &mut Decoder<'_>) -> Option<EventOrder> {
    d.check("orderby", |value| match text(value)?.as_str() {
        "start_date" => Ok(EventOrder::Start),
        "date" => Ok(EventOrder::Date),
        "title" => Ok(EventOrder::Title),
        "id" => Ok(EventOrder::Id),
        _ => Err("must be start_date, date, title or id"),
    })
}
