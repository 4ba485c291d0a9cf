//! Queries of lists.

use jiff::Timestamp;
use serde_json::Value;

use super::args::{self, Arg};
use super::dates::written;
use super::decode::{Decoder, Problems, text};
use super::facts::Facts;
use super::params::Params;
use crate::model::geo::{Point, Unit};
use crate::model::linked::Kind;
use crate::model::list::{
    EventFilter, EventOrder, Geo, LinkedFilter, Paging, Scope, StatusFilter, TermFilter, TermOrder,
};
use crate::model::role::{self, Actor};
use crate::model::schedule::wall_seconds;
use crate::model::search::Words;
use crate::model::slug;
use crate::model::status::Status;
use crate::model::term::Taxonomy;
use crate::model::when::When;
use crate::model::window::{Bounds, Defaults, Window};
use crate::model::zone::Zone;

/// What a list needs to know of the site and the caller.
#[derive(Clone, Copy)]
pub struct Lister<'a> {
    pub actor: &'a Actor,
    pub zone: &'a Zone,
    pub now: Timestamp,
    pub per_page: i64,
    pub per_page_max: i64,
    pub geo_radius: f64,
    pub geo_unit: Unit,
}

/// A list request: what to filter, which page, and the query that repeats it.
pub struct ListRequest<F> {
    pub filter: F,
    pub paging: Paging,
    /// The parameters in effect without `page`.
    pub query: Vec<(String, String)>,
}

fn paging(d: &mut Decoder<'_>, lister: Lister<'_>) -> Paging {
    let page = d.positive("page").unwrap_or(1);
    let per_page = d.positive("per_page").unwrap_or(lister.per_page).min(lister.per_page_max);
    Paging { page, per_page }
}

/// Repeats the given parameters in the order of their declaration.
fn repeated(params: &Params, declared: &[Arg], paging: Paging) -> Vec<(String, String)> {
    let mut query = vec![("per_page".to_owned(), paging.per_page.to_string())];
    for arg in declared.iter().filter(|arg| !matches!(arg.name, "page" | "per_page")) {
        let value = match params.get(arg.name) {
            None => continue,
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(items)) => {
                let texts = items.iter().map(|item| match item {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                texts.collect::<Vec<_>>().join(",")
            }
            Some(other) => other.to_string(),
        };
        query.push((arg.name.to_owned(), value));
    }
    query
}

fn search(d: &mut Decoder<'_>) -> Option<String> {
    d.filled_text("search")
}

/// Reads `status`; what the caller may not ask for is invalid.
fn scope(d: &mut Decoder<'_>, actor: &Actor) -> Scope {
    let asked = statuses(d);
    Scope::of(actor, asked.as_ref()).unwrap_or_else(|| {
        d.fail("status", "must be a list of statuses that the caller may ask for");
        Scope::public()
    })
}

fn statuses(d: &mut Decoder<'_>) -> Option<StatusFilter> {
    let words = d.words("status")?;
    if words.is_empty() {
        d.fail("status", "must not be empty");
        return None;
    }
    if words.iter().any(|word| word == "any") {
        return Some(StatusFilter::Any);
    }
    let statuses: Option<Vec<Status>> = words.iter().map(|word| Status::parse(word)).collect();
    if statuses.is_none() {
        d.fail("status", "must be a list of statuses of 1 to 20 characters");
    }
    statuses.map(StatusFilter::Of)
}

/// Names the default scope, so that following a link shows the same list.
fn default_status(params: &Params, actor: &Actor) -> Option<(String, String)> {
    let word = match (params.get("status"), role::sees_all(actor), role::sees_own(actor)) {
        (Some(_), ..) => return None,
        (None, true, _) => "any",
        (None, false, None) => "publish",
        (None, false, Some(_)) => return None,
    };
    Some(("status".to_owned(), word.to_owned()))
}

/// Reads the query of the list of events.
pub fn events(
    params: &Params,
    facts: &mut dyn Facts,
    lister: Lister<'_>,
) -> Result<ListRequest<EventFilter>, Problems> {
    let mut decoder = Decoder::new(params);
    let d = &mut decoder;
    let paging = paging(d, lister);
    let (window, defaults) = window(d, lister);
    let search = search(d);
    let categories = terms(d, facts, Taxonomy::Category);
    let tags = terms(d, facts, Taxonomy::Tag);
    let venues = linked(d, facts, Kind::Venue);
    let organizers = linked(d, facts, Kind::Organizer);
    let featured = d.boolean("featured");
    let scope = scope(d, lister.actor);
    let geo = geo(d, lister);
    let include = d.ids("include");
    let parent = existing_event(d, facts, "post_parent");
    let nothing = d.boolean("ticketed") == Some(true);
    let descending = descending(d);
    let order = event_order(d);
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
        words: search.map(|text| Words::parse(&text)).unwrap_or_default(),
        categories,
        tags,
        venues,
        organizers,
        featured,
        include,
        parent,
        geo,
        nothing,
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

fn window(d: &mut Decoder<'_>, lister: Lister<'_>) -> (Window, Defaults) {
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
fn terms(d: &mut Decoder<'_>, facts: &mut dyn Facts, taxonomy: Taxonomy) -> Option<Vec<i64>> {
    let mut ids = Vec::new();
    for word in d.words(taxonomy.collection())? {
        let id = word.parse().ok().filter(|id| facts.term(taxonomy, *id));
        let known = facts
            .term_by_slug(taxonomy, &word.to_lowercase())
            .or(id)
            .or_else(|| facts.term_by_slug(taxonomy, &slug::clean(&word)));
        match known {
            Some(id) => ids.push(id),
            None => d.fail(taxonomy.collection(), "must name existing terms"),
        }
    }
    if ids.is_empty() {
        d.fail(taxonomy.collection(), "must name existing terms");
    }
    Some(ids)
}

fn linked(d: &mut Decoder<'_>, facts: &mut dyn Facts, kind: Kind) -> Option<Vec<i64>> {
    let ids = d.ids(kind.word())?;
    if ids.is_empty() || !ids.iter().all(|id| facts.linked(kind, *id)) {
        d.fail(kind.word(), "must be a list of existing ids");
    }
    Some(ids)
}

fn existing_event(d: &mut Decoder<'_>, facts: &mut dyn Facts, name: &'static str) -> Option<i64> {
    let id = d.positive(name)?;
    if !facts.event(id) {
        d.fail(name, "must be the id of an event");
    }
    Some(id)
}

fn geo(d: &mut Decoder<'_>, lister: Lister<'_>) -> Option<Geo> {
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

fn descending(d: &mut Decoder<'_>) -> bool {
    let read = d.check("order", |value| match text(value)?.to_ascii_lowercase().as_str() {
        "asc" | "ascending" => Ok(false),
        "desc" | "descending" => Ok(true),
        _ => Err("must be asc or desc"),
    });
    read.unwrap_or(false)
}

fn event_order(d: &mut Decoder<'_>) -> EventOrder {
    let read = d.check("orderby", |value| match text(value)?.as_str() {
        "start_date" => Ok(EventOrder::Start),
        "date" => Ok(EventOrder::Date),
        "title" => Ok(EventOrder::Title),
        "id" => Ok(EventOrder::Id),
        _ => Err("must be start_date, date, title or id"),
    });
    read.unwrap_or(EventOrder::Start)
}

/// Reads the query of the lists of venues and organizers.
pub fn linked_rows(
    params: &Params,
    facts: &mut dyn Facts,
    lister: Lister<'_>,
) -> Result<ListRequest<LinkedFilter>, Problems> {
    let mut decoder = Decoder::new(params);
    let d = &mut decoder;
    let paging = paging(d, lister);
    let search = search(d);
    let event = existing_event(d, facts, "event");
    let has_events = d.flag("has_events");
    let upcoming = d.flag("only_with_upcoming") == Some(true);
    let scope = scope(d, lister.actor);
    let mut query = repeated(params, args::LINKED_LIST, paging);
    query.extend(default_status(params, lister.actor));
    let filter = LinkedFilter {
        scope,
        actor: lister.actor.clone(),
        search,
        event,
        has_events,
        upcoming_since: upcoming.then(|| lister.now.as_second()),
    };
    decoder.finish(ListRequest { filter, paging, query })
}

/// Reads the query of the lists of categories and tags.
pub fn terms_rows(
    params: &Params,
    facts: &mut dyn Facts,
    taxonomy: Taxonomy,
    lister: Lister<'_>,
) -> Result<ListRequest<TermFilter>, Problems> {
    let mut decoder = Decoder::new(params);
    let d = &mut decoder;
    let declared = match taxonomy {
        Taxonomy::Category => args::CATEGORY_LIST,
        Taxonomy::Tag => args::TAG_LIST,
    };
    let paging = paging(d, lister);
    let search = search(d);
    let exclude = existing_terms(d, facts, taxonomy, "exclude").unwrap_or_default();
    let include = existing_terms(d, facts, taxonomy, "include");
    let descending = descending(d);
    let order = term_order(d);
    let hide_empty = d.boolean("hide_empty").unwrap_or(true);
    let parent = match taxonomy {
        Taxonomy::Category => parent(d, facts),
        Taxonomy::Tag => None,
    };
    let post = existing_event(d, facts, "post");
    let event = existing_event(d, facts, "event").or(post);
    let slugs = d.words("slug").map(|words| words.iter().map(|w| slug::clean(w)).collect());
    let query = repeated(params, declared, paging);
    let filter = TermFilter {
        search,
        include,
        exclude,
        slugs,
        parent,
        event,
        hide_empty,
        order,
        descending,
    };
    decoder.finish(ListRequest { filter, paging, query })
}

fn existing_terms(
    d: &mut Decoder<'_>,
    facts: &mut dyn Facts,
    taxonomy: Taxonomy,
    name: &'static str,
) -> Option<Vec<i64>> {
    let ids = d.ids(name)?;
    if ids.is_empty() || !ids.iter().all(|id| facts.term(taxonomy, *id)) {
        d.fail(name, "must be a list of existing ids");
    }
    Some(ids)
}

fn parent(d: &mut Decoder<'_>, facts: &mut dyn Facts) -> Option<i64> {
    if d.raw("parent").is_some_and(|value| value.as_str().map(str::trim) == Some("0")) {
        return Some(0);
    }
    let id = d.positive("parent")?;
    if !facts.term(Taxonomy::Category, id) {
        d.fail("parent", "must be the id of a category");
    }
    Some(id)
}

fn term_order(d: &mut Decoder<'_>) -> TermOrder {
    let read = d.check("orderby", |value| match text(value)?.as_str() {
        "id" | "term_group" => Ok(TermOrder::Id),
        "name" => Ok(TermOrder::Name),
        "slug" => Ok(TermOrder::Slug),
        "description" => Ok(TermOrder::Description),
        "parent" => Ok(TermOrder::Parent),
        "count" => Ok(TermOrder::Count),
        "include" | "include_slugs" => Ok(TermOrder::Given),
        _ => Err("must be an attribute of terms"),
    });
    read.unwrap_or(TermOrder::Name)
}
