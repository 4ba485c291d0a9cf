//! Decodes event writes.

use serde_json::{Map, Value};

use super::linked_input::LinkedInput;
use super::names::{Input, Known, Names};
use super::objects::{Row, id_of_object};
use super::parameter_errors::ParameterErrors;
use super::parameters::EventFields;
use super::params::Params;
use super::reading::{Errors, read_parameters};
use super::recurrence_input;
use super::values::{Flag, Items, MAX_ITEMS, TOO_MANY, Website, positive, short_text};
use super::write_input::{WriteOptions, name, point_in_time, post_change};
use crate::model::change::{EventChange, LinkRef};
use crate::model::cost;
use crate::model::event::Event;
use crate::model::event_status::EventStatusChange;
use crate::model::html;
use crate::model::linked::Kind;
use crate::model::schedule::ScheduleChange;
use crate::model::term::{Taxonomy, TermRef};
use crate::model::urls::Urls;
use crate::model::zone::Zone;

/// The parameters of an event write, with any errors found so far.
pub struct EventInput {
    given: EventFields,
    errors: Errors,
    categories: Option<Vec<Value>>,
    tags: Option<Vec<Value>>,
    venues: Option<Vec<LinkItem>>,
    organizers: Option<Vec<LinkItem>>,
    /// Whether the client explicitly sent `null` as the recurrence.
    has_null_recurrence: bool,
    may_be_blanked: bool,
}

/// An item of the `venue` or `organizer` parameter.
enum LinkItem {
    /// The id of an existing venue or organizer. `None` if the value isn't a valid id.
    Existing(Option<i64>),
    /// An object copied from an earlier response.
    Object(Value),
    /// The fields of a venue or organizer to be created with the event.
    New(LinkedInput),
}

impl Input for EventInput {
    fn names(&self, urls: &Urls) -> Names {
        let mut names = Names::default();
        names.add_post(self.given.author.as_ref(), self.given.image.as_ref(), urls);
        for (taxonomy, items) in
            [(Taxonomy::Category, &self.categories), (Taxonomy::Tag, &self.tags)]
        {
            let objects = items.iter().flatten().filter_map(id_of_object);
            names.objects.extend(objects.map(|id| (Row::Term(taxonomy), id)));
            let numbers = items.iter().flatten().filter_map(|item| Some((item, positive(item)?)));
            let names = names.terms(taxonomy);
            for (item, id) in numbers {
                names.ids.push(id);
                // A string of digits can be an id or a slug, so look up both.
                names.slugs.extend(item.as_str().map(str::to_owned));
            }
        }
        for (kind, items) in [(Kind::Venue, &self.venues), (Kind::Organizer, &self.organizers)] {
            for item in items.iter().flatten() {
                match item {
                    LinkItem::Existing(id) => names.linked(kind).extend(id),
                    LinkItem::Object(object) => {
                        let id = id_of_object(object);
                        names.objects.extend(id.map(|id| (Row::Linked(kind), id)));
                    }
                    LinkItem::New(input) => input.add_names(&mut names, urls),
                }
            }
        }
        names
    }
}

impl EventInput {
    /// Reads the parameters. If `creating` is set, a title and dates are required.
    pub fn read(params: &Params, creating: bool) -> EventInput {
        let (mut given, mut errors) = read_parameters::<EventFields>(params);
        if creating {
            errors.require(params);
        }
        let terms = |items: Option<Items>| Some(items?.0);
        let (categories, tags) = (terms(given.categories.take()), terms(given.tags.take()));
        let venues = link_items(&mut errors, Kind::Venue, given.venue.take());
        let organizers = link_items(&mut errors, Kind::Organizer, given.organizer.take());
        let sent = params.members().get("recurrence");
        let has_null_recurrence = sent.is_some_and(Value::is_null);
        let may_be_blanked = may_be_blanked(params);
        EventInput {
            given,
            errors,
            categories,
            tags,
            venues,
            organizers,
            has_null_recurrence,
            may_be_blanked,
        }
    }

    /// Decodes a request that creates an event or changes `current`.
    ///
    /// # Errors
    /// Returns all missing or invalid parameters.
    pub fn decode(
        self,
        known: &Known,
        writer: WriteOptions<'_>,
        current: Option<&Event>,
    ) -> Result<EventChange, ParameterErrors> {
        decode(self, known, writer, current)
    }
}

fn decode(
    input: EventInput,
    known: &Known,
    writer: WriteOptions<'_>,
    current: Option<&Event>,
) -> Result<EventChange, ParameterErrors> {
    let EventInput {
        given, mut errors, categories, tags, venues, organizers, may_be_blanked, ..
    } = input;
    let e = &mut errors;
    let flag = |flag: Option<Flag>| flag.map(|flag| flag.0);
    let zone = given.timezone.and_then(|text| zone_of(e, &text.0, writer));
    // Dates are local to the event's new zone if this request changes it.
    let stored = current.map_or(writer.zone, |event| &event.schedule.zone);
    let zone_of_dates = zone.as_ref().unwrap_or(stored);
    let recurrence = recurrence_input::decode(e, given.recurrence, zone_of_dates, writer.now);
    let schedule = ScheduleChange {
        start: point_in_time(e, "start_date", given.start_date, zone_of_dates, writer.now),
        end: point_in_time(e, "end_date", given.end_date, zone_of_dates, writer.now),
        all_day: flag(given.all_day),
        zone,
    };
    let mut change = EventChange {
        title: name(e, "title", given.title, writer),
        post: post_change!(e, known, given, writer),
        schedule,
        cost: cost_inputs(e, given.cost.as_ref(), writer, current),
        website: website(given.website, writer, current),
        show_map: flag(given.show_map),
        show_map_link: flag(given.show_map_link),
        hide_from_listings: flag(given.hide_from_listings),
        sticky: flag(given.sticky),
        featured: flag(given.featured),
        password: given.password.map(|text| text.0),
        event_status: EventStatusChange {
            occurring: given.event_status.map(|status| status.0),
            reason: given
                .event_status_reason
                .map(|reason| html::without_tags(&reason.0).trim().to_owned()),
        },
        categories: terms(e, known, Taxonomy::Category, categories, writer.urls),
        tags: terms(e, known, Taxonomy::Tag, tags, writer.urls),
        venues: links(e, known, Kind::Venue, venues, writer),
        organizers: links(e, known, Kind::Organizer, organizers, writer),
        recurrence,
        has_null_recurrence: input.has_null_recurrence,
        reach: given.scope.map(|scope| scope.0).unwrap_or_default(),
        external_id: None,
        parent: None,
        date_slug: None,
        taken: None,
    };
    if may_be_blanked && current.is_some_and(|event| event.password.is_some()) {
        change.keep_blanked();
    }
    errors.finish(change)
}

/// Returns whether the client might be sending back the response for a protected event, in which
/// most fields are blank. Such a request contains fields that only occur in responses (e.g. `id`),
/// but no flags, because the response had null for these.
fn may_be_blanked(params: &Params) -> bool {
    const IDENTITY: [&str; 3] = ["id", "global_id", "rest_url"];
    const FLAGS: [&str; 6] =
        ["all_day", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured"];
    let has = |name: &&str| params.get(name).is_some();
    IDENTITY.iter().any(has) && !FLAGS.iter().any(has)
}

fn zone_of(errors: &mut Errors, text: &str, writer: WriteOptions<'_>) -> Option<Zone> {
    if text.trim().is_empty() {
        return Some(writer.zone.clone());
    }
    let zone = Zone::parse(text);
    if zone.is_none() {
        errors.fail("timezone", "must be a time zone");
    }
    zone
}

/// Decodes a cost. Returns `None`, which keeps the stored cost, if the parameter is absent or
/// invalid, or if it repeats the stored cost as shown in responses.
fn cost_inputs(
    errors: &mut Errors,
    given: Option<&Value>,
    writer: WriteOptions<'_>,
    current: Option<&Event>,
) -> Option<Vec<String>> {
    const WRONG: &str = "must be a string, a number or a list of these";
    let one = |value: &Value| match value {
        Value::String(_) => short_text(value).map(|text| html::without_tags(&text)),
        // JSON numbers never use digit grouping, so append a zero to keep `1.234` from being read
        // as 1234.
        Value::Number(number) => Ok(match number.to_string() {
            text if text.split_once('.').is_some_and(|(_, digits)| digits.len() == 3) => text + "0",
            text => text,
        }),
        _ => Err(WRONG),
    };
    let inputs: Result<Vec<String>, &str> = match given? {
        Value::Array(items) => items.iter().map(one).collect(),
        other => one(other).map(|input| vec![input]),
    };
    let inputs = inputs.map_err(|text| errors.fail("cost", text)).ok()?;
    if inputs.iter().any(|input| input.chars().count() > 1000) || inputs.len() > 100 {
        errors.fail("cost", "must be at most 1000 characters long");
        return None;
    }
    let shown = current.map(|event| cost::read(&event.cost, writer.currency).shown);
    let same = matches!((&inputs[..], &shown), ([input], Some(shown)) if input == shown);
    (!same).then(|| inputs.into_iter().filter(|input| !input.trim().is_empty()).collect())
}

/// Returns the website, or `None` if the parameter is absent. If an event has no website, responses
/// contain the URL of its own page, so that URL counts as empty.
fn website(
    given: Option<Website>,
    writer: WriteOptions<'_>,
    current: Option<&Event>,
) -> Option<String> {
    let Website(website) = given?;
    let own = current.map(|event| writer.urls.event_page(&event.slug));
    Some(if own.as_ref() == Some(&website) { String::new() } else { website })
}

/// Decodes categories or tags. Ids of missing terms are ignored, whereas slugs and names are
/// resolved when the event is stored. An object must match the stored term with the same id.
/// Returns `None` if the parameter is absent or invalid.
fn terms(
    errors: &mut Errors,
    known: &Known,
    taxonomy: Taxonomy,
    items: Option<Vec<Value>>,
    urls: &Urls,
) -> Option<Vec<TermRef>> {
    let name = taxonomy.collection();
    let (all, known) = (known, known.terms(taxonomy));
    let mut refs = Vec::new();
    for item in &items? {
        match (item, positive(item)) {
            (Value::Object(members), _) => match term_object(members, taxonomy) {
                Some(TermRef::Id(id))
                    if !all.objects.agrees(Row::Term(taxonomy), id, item, urls) =>
                {
                    errors.fail(name, "must have the id and the slug or name of the same term");
                    return None;
                }
                Some(found) => refs.push(found),
                None => {
                    errors.fail(name, "must be a list of ids, slugs or names");
                    return None;
                }
            },
            (Value::String(text), Some(id)) if !known.slugs.contains_key(text) => {
                refs.extend(known.ids.contains(&id).then_some(TermRef::Id(id)));
            }
            (Value::String(text), _) if text.chars().count() <= 1000 => {
                refs.push(TermRef::Text(text.clone()));
            }
            (Value::Number(_), Some(id)) => {
                refs.extend(known.ids.contains(&id).then_some(TermRef::Id(id)));
            }
            (Value::Number(_), None) => {}
            _ => {
                errors.fail(name, "must be a list of ids, slugs or names");
                return None;
            }
        }
    }
    Some(refs)
}

/// Returns the term that an object refers to by `id`, `slug` or name, in this order of precedence.
/// Returns `None` if the object is invalid.
fn term_object(members: &Map<String, Value>, taxonomy: Taxonomy) -> Option<TermRef> {
    if let Some(id) = members.get("id").filter(|id| !id.is_null()) {
        return positive(id).map(TermRef::Id);
    }
    let texts = ["slug", "name", taxonomy.word()].into_iter();
    let text = texts.filter_map(|key| members.get(key)?.as_str()).find(|text| !text.is_empty());
    text.filter(|text| text.chars().count() <= 1000).map(|text| TermRef::Text(text.to_owned()))
}

/// Reads venues or organizers, given as ids, as objects, or as a list of both. Returns `None` if
/// the parameter is absent or has too many items.
fn link_items(errors: &mut Errors, kind: Kind, given: Option<Value>) -> Option<Vec<LinkItem>> {
    let items: Vec<Value> = match given? {
        Value::Array(items) => items.into_iter().filter(|item| !item.is_null()).collect(),
        Value::String(text) => text.split(',').map(|part| Value::from(part.trim())).collect(),
        other => vec![other],
    };
    let items: Vec<&Value> = items.iter().filter(|item| !names_nothing(item)).collect();
    if items.len() > MAX_ITEMS {
        errors.fail(kind.word(), TOO_MANY);
        return None;
    }
    let link_item = |item: &Value| match item {
        Value::Object(members) if members.get("id").is_some_and(|id| !id.is_null()) => {
            LinkItem::Object(item.clone())
        }
        item if !item.is_object() => LinkItem::Existing(positive(item)),
        _ => LinkItem::New(LinkedInput::read(&Params::from_json(item.clone()), kind, true)),
    };
    Some(items.into_iter().map(link_item).collect())
}

fn links(
    errors: &mut Errors,
    known: &Known,
    kind: Kind,
    items: Option<Vec<LinkItem>>,
    writer: WriteOptions<'_>,
) -> Option<Vec<LinkRef>> {
    let refs = items?.into_iter().map(|item| link(item, known, kind, writer));
    refs.collect::<Result<_, String>>().map_err(|text| errors.fail(kind.word(), text)).ok()
}

fn names_nothing(item: &Value) -> bool {
    item.as_i64() == Some(0) || item.as_str().is_some_and(|text| matches!(text, "" | "0"))
}

fn link(
    item: LinkItem,
    known: &Known,
    kind: Kind,
    writer: WriteOptions<'_>,
) -> Result<LinkRef, String> {
    let input = match item {
        LinkItem::Existing(id) => {
            let found = id.filter(|id| known.linked(kind).contains(id));
            return found
                .map(LinkRef::Id)
                .ok_or_else(|| format!("must name existing {}s", kind.word()));
        }
        LinkItem::Object(object) => {
            let id = id_of_object(&object);
            let agrees =
                |id: &i64| known.objects.agrees(Row::Linked(kind), *id, &object, writer.urls);
            return id.filter(agrees).map(LinkRef::Id).ok_or_else(|| {
                let word = kind.word();
                format!("must have the id and the slug or name of the same existing {word}")
            });
        }
        LinkItem::New(input) => input,
    };
    match input.decode(known, writer) {
        Ok(change) => Ok(LinkRef::New(Box::new(change))),
        Err(errors) => {
            let names: Vec<&str> = errors
                .missing
                .into_iter()
                .chain(errors.invalid.iter().map(|problem| problem.name))
                .collect();
            Err(format!("has missing or invalid data: {}", names.join(", ")))
        }
    }
}
