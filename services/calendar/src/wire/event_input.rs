//! Writes of events.

use std::collections::HashSet;

use serde_json::Value;

use super::decode::{Decoder, MOST_MEMBERS, ParameterErrors, TOO_MANY, positive, text};
use super::linked_input;
use super::lookup::Lookup;
use super::params::Params;
use super::write_input::{WriteOptions, author, image, markup, moment, name, publication, status};
use crate::model::change::{EventChange, LinkRef};
use crate::model::cost;
use crate::model::event::Event;
use crate::model::linked::Kind;
use crate::model::schedule::ScheduleChange;
use crate::model::term::{Taxonomy, TermRef};
use crate::model::zone::Zone;

/// Reads a write; without a current event it creates one, so that title and dates are required.
pub fn decode(
    params: &Params,
    lookup: &mut dyn Lookup,
    writer: WriteOptions<'_>,
    current: Option<&Event>,
) -> Result<EventChange, ParameterErrors> {
    let mut decoder = Decoder::new(params);
    let d = &mut decoder;
    if current.is_none() {
        for name in ["title", "start_date", "end_date"] {
            d.require(name);
        }
    }
    let standing = current.map_or(writer.zone, |event| &event.schedule.zone);
    // Dates are read in the zone that the event will have; a wrong one is reported in its turn.
    let zone = params.text("timezone").and_then(|text| zone_of(text, writer).ok());
    let zone_of_dates = zone.as_ref().unwrap_or(standing);
    let mut change = EventChange {
        title: name(d, "title", writer),
        schedule: ScheduleChange {
            start: moment(d, "start_date", zone_of_dates, writer.now),
            end: moment(d, "end_date", zone_of_dates, writer.now),
            ..ScheduleChange::default()
        },
        author: author(d, lookup),
        publication: publication(d, writer),
        description: markup(d, "description", writer),
        slug: d.slug("slug"),
        excerpt: markup(d, "excerpt", writer),
        status: status(d),
        ..EventChange::default()
    };
    change.schedule.zone = d.check("timezone", |value| zone_of(&text(value)?, writer));
    change.schedule.all_day = d.boolean("all_day");
    change.image = image(d, lookup, writer);
    change.cost = cost_inputs(d, writer, current);
    change.website = website(d, writer, current);
    flags(d, &mut change);
    change.categories = terms(d, lookup, Taxonomy::Category);
    change.tags = terms(d, lookup, Taxonomy::Tag);
    change.venues = links(d, lookup, Kind::Venue, writer);
    change.organizers = links(d, lookup, Kind::Organizer, writer);
    change.password = d.short_text("password");
    decoder.finish(change)
}

fn flags(d: &mut Decoder<'_>, change: &mut EventChange) {
    change.show_map = d.boolean("show_map");
    change.show_map_link = d.boolean("show_map_link");
    change.hide_from_listings = d.boolean("hide_from_listings");
    change.sticky = d.boolean("sticky");
    change.featured = d.boolean("featured");
}

fn zone_of(text: &str, writer: WriteOptions<'_>) -> Result<Zone, &'static str> {
    if text.trim().is_empty() {
        return Ok(writer.zone.clone());
    }
    Zone::parse(text).ok_or("must be a time zone")
}

/// Reads a cost; the one that answers show for the stored event changes nothing.
fn cost_inputs(
    d: &mut Decoder<'_>,
    writer: WriteOptions<'_>,
    current: Option<&Event>,
) -> Option<Vec<String>> {
    const WRONG: &str = "must be a text, a number or a list of them";
    let one = |value: &Value| match value {
        Value::String(_) => text(value),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(WRONG),
    };
    let inputs: Vec<String> = d.check("cost", |value| match value {
        Value::Array(items) => items.iter().map(one).collect(),
        other => one(other).map(|input| vec![input]),
    })?;
    if inputs.iter().any(|input| input.chars().count() > 1000) || inputs.len() > 100 {
        d.fail("cost", "must be at most 1000 characters long");
        return None;
    }
    let shown = current.map(|event| cost::read(&event.cost, writer.currency).shown);
    let same = matches!((&inputs[..], &shown), ([input], Some(shown)) if input == shown);
    (!same).then(|| inputs.into_iter().filter(|input| !input.trim().is_empty()).collect())
}

/// Reads the website; the page of the event itself counts as none.
fn website(
    d: &mut Decoder<'_>,
    writer: WriteOptions<'_>,
    current: Option<&Event>,
) -> Option<String> {
    let website = d.website("website")?;
    let own = current.map(|event| writer.urls.event_page(&event.slug));
    Some(if own.as_ref() == Some(&website) { String::new() } else { website })
}

/// Reads terms: ids that do not exist are skipped, texts are resolved when the event is stored.
fn terms(d: &mut Decoder<'_>, lookup: &mut dyn Lookup, taxonomy: Taxonomy) -> Option<Vec<TermRef>> {
    let name = taxonomy.collection();
    let items: Vec<Value> = d.list(name)?.into_iter().map(term_of).collect();
    let ids: Vec<i64> = items.iter().filter_map(positive).collect();
    let known = lookup.terms(taxonomy, &ids);
    let digits = items.iter().filter(|item| positive(item).is_some());
    let digits: Vec<String> = digits.filter_map(Value::as_str).map(str::to_owned).collect();
    let slugs = lookup.terms_by_slug(taxonomy, &digits);
    let mut refs = Vec::new();
    for item in &items {
        match (item, positive(item)) {
            (Value::String(text), Some(id)) if !slugs.contains_key(text) => {
                refs.extend(known.contains(&id).then_some(TermRef::Id(id)));
            }
            (Value::String(text), _) if text.chars().count() <= 1000 => {
                refs.push(TermRef::Text(text.clone()));
            }
            (Value::Number(_), Some(id)) => {
                refs.extend(known.contains(&id).then_some(TermRef::Id(id)));
            }
            (Value::Number(_), None) => {}
            _ => {
                d.fail(name, "must be a list of ids, slugs or names");
                return None;
            }
        }
    }
    Some(refs)
}

/// Takes the id of what an answer showed, so that it can be sent back as it is.
fn term_of(item: Value) -> Value {
    match item.get("id") {
        Some(id) => text(id).map_or_else(|_| id.clone(), Value::from),
        None => item,
    }
}

/// Reads linked venues or organizers: ids, objects, or a list of both.
fn links(
    d: &mut Decoder<'_>,
    lookup: &mut dyn Lookup,
    kind: Kind,
    writer: WriteOptions<'_>,
) -> Option<Vec<LinkRef>> {
    let name = kind.word();
    let items: Vec<Value> = match d.raw(name)? {
        Value::Array(items) => items.iter().filter(|item| !item.is_null()).cloned().collect(),
        Value::String(text) => text.split(',').map(|part| Value::from(part.trim())).collect(),
        other => vec![other.clone()],
    };
    let items: Vec<&Value> = items.iter().filter(|item| !names_nothing(item)).collect();
    if items.len() > MOST_MEMBERS {
        d.fail(name, TOO_MANY);
        return None;
    }
    let ids: Vec<i64> = items.iter().filter_map(|item| positive(id_of(item)?)).collect();
    let known = lookup.linked(kind, &ids);
    let mut refs = Vec::new();
    for item in items {
        match link(item, &known, lookup, kind, writer) {
            Ok(link) => refs.push(link),
            Err(text) => {
                d.fail(name, text);
                return None;
            }
        }
    }
    Some(refs)
}

fn names_nothing(item: &Value) -> bool {
    item.as_i64() == Some(0) || item.as_str().is_some_and(|text| matches!(text, "" | "0"))
}

/// Returns what names an existing row; an object without an id describes a new one.
fn id_of(item: &Value) -> Option<&Value> {
    match item {
        Value::Object(members) => members.get("id").filter(|id| !id.is_null()),
        other => Some(other),
    }
}

fn link(
    item: &Value,
    known: &HashSet<i64>,
    lookup: &mut dyn Lookup,
    kind: Kind,
    writer: WriteOptions<'_>,
) -> Result<LinkRef, String> {
    if let Some(id) = id_of(item) {
        let found = positive(id).filter(|id| known.contains(id));
        return found
            .map(LinkRef::Id)
            .ok_or_else(|| format!("must name existing {}s", kind.word()));
    }
    let params = Params::from_json(item.clone());
    match linked_input::decode(&params, lookup, kind, writer, true) {
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
