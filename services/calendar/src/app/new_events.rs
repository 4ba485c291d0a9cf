//! Loads new events in bulk, using few statements for many lines.
//!
//! This covers lines that create an event and refer only to existing terms, venues and organizers.
//! The results are the same as with [`load_line`](super::load_line), which loads all other lines.

use std::collections::{HashMap, HashSet};

use database::{DatabaseError, Db};

use super::event_writes;
use super::list_permit::LONGEST_PAGE;
use super::loading::{decode_event, external_id, warn_of_dates};
use super::slugs::{self, SlugSource};
use super::transactions::with_context;
use crate::error::Error;
use crate::model::change::{EventChange, LinkRef};
use crate::model::event::{Event, Links};
use crate::model::event_status::{EventStatus, Occurring};
use crate::model::html;
use crate::model::linked::Kind;
use crate::model::list::Scope;
use crate::model::role::User;
use crate::model::series_ids::occurrence_of;
use crate::model::term::{Taxonomy, TermRef};
use crate::model::{search, slug};
use crate::state::State;
use crate::store::sql::TEXTS;
use crate::store::{
    self, event_statuses, events, external_ids, imported, linked_posts, terms, text_lengths,
};
use crate::wire::params::Params;
use crate::wire::term_input::plain_name;

/// The outcome for a line.
pub enum LoadedLine {
    /// An event was created, with these warnings.
    Created(Vec<String>),
    /// The event already exists.
    Unchanged,
}

/// A line before it is stored.
enum Step {
    New(Box<NewEvent>),
    Unchanged,
}

/// An event that doesn't have its id, slug and links yet.
struct NewEvent {
    event: Event,
    change: EventChange,
    /// The slug to use if it is free.
    wanted_slug: String,
    warnings: Vec<String>,
}

/// Loads lines up to the first one that needs [`load_line`](super::load_line). Returns the outcome
/// of each.
///
/// # Errors
/// Returns any database error.
pub fn load_new_events(
    state: &State,
    db: &mut Db,
    writer: &User,
    lines: &[&Params],
    upsert: bool,
) -> Result<Vec<LoadedLine>, Error> {
    let steps = read(state, db, writer, lines, upsert)?;
    match steps.iter().any(|step| matches!(step, Step::New(_))) {
        true => Ok(create(db, writer, steps)?),
        false => Ok(steps.iter().map(|_| LoadedLine::Unchanged).collect()),
    }
}

/// Reads lines up to the first one that is not a plain new event.
fn read(
    state: &State,
    db: &mut Db,
    writer: &User,
    lines: &[&Params],
    upsert: bool,
) -> Result<Vec<Step>, Error> {
    let events = lines.iter().take_while(|params| params.text("type") == Some("event"));
    let events = events.map_while(|params| Some((*params, external_id(params).ok()?)));
    let events: Vec<(&Params, Option<String>)> = events.collect();
    let ids: Vec<&str> = events.iter().filter_map(|(_, id)| id.as_deref()).collect();
    let known = external_ids::known(db, &ids)?;
    let (mut steps, mut own_ids, mut names) = (Vec::new(), HashSet::new(), HashSet::new());
    for (params, id) in events {
        let is_known = id.as_ref().is_some_and(|id| known.contains(id));
        if is_known && upsert {
            break;
        }
        if is_known {
            steps.push(Step::Unchanged);
            continue;
        }
        let Some(new) = new_event(state, db, writer, params, id)? else { break };
        let name = (new.event.schedule.start_local, folded_title(&new.event));
        let is_first = match &new.event.external_id {
            Some(id) => own_ids.insert(id.clone()),
            None => !names.contains(&name),
        };
        if !is_first {
            break;
        }
        names.insert(name);
        steps.push(Step::New(Box::new(new)));
    }
    Ok(steps)
}

/// Returns a title in the form used for comparisons.
fn folded_title(event: &Event) -> String {
    search::fold_name(&html::plain(&event.title))
}

/// Decodes the line of a plain new event. Returns `None` for all other lines, including invalid
/// ones.
fn new_event(
    state: &State,
    db: &mut Db,
    writer: &User,
    params: &Params,
    id: Option<String>,
) -> Result<Option<NewEvent>, Error> {
    let is_occurrence = id.as_deref().is_some_and(|id| occurrence_of(id).is_some());
    let by_slug = id.is_none() && params.text("slug").is_some();
    if is_occurrence || by_slug {
        return Ok(None);
    }
    let decoded = with_context(state, db, writer, params, |context| {
        let change = decode_event(context, writer, params, id.as_deref(), None)?;
        let write = context.write_context(writer);
        let event = event_writes::decide(&context.site.settings.site_timezone, &change, write)?;
        Ok::<_, Error>((event, change))
    });
    let (event, change) = match decoded {
        Ok(decoded) => decoded,
        Err(Error::Store(error)) => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    if change.recurrence.is_some() || change.post.image.is_some() || event.status.is_trashed() {
        return Ok(None);
    }
    let is_new = id.is_some()
        || events::find_by_title_and_start(
            db,
            change.title.as_deref().unwrap_or_default(),
            event.schedule.start_local,
        )?
        .is_none();
    let source = SlugSource {
        sent: change.post.slug.as_deref(),
        current: "",
        title: &event.title,
        was_trashed: false,
        is_trashed: false,
    };
    let wanted_slug = slugs::wanted("events", &source);
    if !is_new || wanted_slug.is_empty() {
        return Ok(None);
    }
    let mut warnings = Vec::new();
    warn_of_dates(params, &change, &event, &mut warnings);
    Ok(Some(NewEvent { event, change, wanted_slug, warnings }))
}

/// Stores the new events up to the first one that refers to something that doesn't exist yet. If
/// their combined text might be too long for a page, stores none of them, so that each is checked
/// individually.
///
/// This never has to be undone, so it doesn't need a savepoint. On SQLite, the time for each
/// statement after a savepoint is proportional to the number of pages changed since.
fn create(db: &mut Db, writer: &User, steps: Vec<Step>) -> Result<Vec<LoadedLine>, DatabaseError> {
    let changes = steps.iter().filter_map(|step| match step {
        Step::New(new) => Some(&new.change),
        Step::Unchanged => None,
    });
    let found = Found::of(db, writer, &changes.collect::<Vec<_>>())?;
    let mut own = OwnSlugs::of(db, &steps)?;
    let (mut lines, mut new, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
    for step in steps {
        let Step::New(one) = step else {
            lines.push(LoadedLine::Unchanged);
            continue;
        };
        let NewEvent { mut event, change, wanted_slug, warnings } = *one;
        let Some(links) = found.links(&change) else { break };
        let Some(slug) = own.slug(db, &wanted_slug)? else { break };
        event.slug = slug;
        statuses.push(change.event_status.over(&EventStatus::default()));
        new.push((event, links));
        lines.push(LoadedLine::Created(warnings));
    }
    if new.is_empty() {
        return Ok(lines);
    }
    // If all of them fit on one page, each one fits individually.
    if text_length(db, &new)? > LONGEST_PAGE {
        return Ok(Vec::new());
    }
    let ids = events::allocate_all(db, new.len())?;
    let first_sequence = imported::first_sequence(db)?;
    for ((event, _), id) in new.iter_mut().zip(&ids) {
        event.id = *id;
        if event.external_id.is_some() {
            event.sequence = first_sequence;
        }
    }
    let own: Vec<&str> = new.iter().map(|(event, _)| event.slug.as_str()).collect();
    store::slugs::forget_former_ones(db, "events", &own)?;
    events::insert_all(db, &new)?;
    for (id, status) in ids.iter().zip(&statuses) {
        if status.occurring != Occurring::Scheduled {
            event_statuses::replace(db, *id, status)?;
        }
    }
    Ok(lines)
}

/// Returns the total text size in bytes of the events that have venues or organizers. A venue is
/// counted once per event.
fn text_length(db: &mut Db, events: &[(Event, Links)]) -> Result<usize, DatabaseError> {
    let mut bytes = 0;
    for (event, links) in events {
        if !(links.venues.is_empty() && links.organizers.is_empty()) {
            bytes += event.description.len() + event.excerpt.len();
        }
    }
    for kind in [Kind::Venue, Kind::Organizer] {
        let linked = events.iter().flat_map(|(_, links)| match kind {
            Kind::Venue => &links.venues,
            Kind::Organizer => &links.organizers,
        });
        let distinct: HashSet<i64> = linked.clone().copied().collect();
        let distinct: Vec<i64> = distinct.into_iter().collect();
        let lengths = text_lengths::by_id(db, kind, &distinct)?;
        bytes += linked.filter_map(|id| lengths.get(id)).sum::<usize>();
    }
    Ok(bytes)
}

/// The rows that new events refer to by name.
struct Found {
    /// Term ids by slug.
    slugs: HashMap<(Taxonomy, String), i64>,
    /// Term ids by case-folded name.
    names: HashMap<(Taxonomy, String), i64>,
    /// Ids of venues and organizers by case-folded name.
    linked: HashMap<(Kind, String), i64>,
}

impl Found {
    fn of(db: &mut Db, writer: &User, changes: &[&EventChange]) -> Result<Found, DatabaseError> {
        let mut found =
            Found { slugs: HashMap::new(), names: HashMap::new(), linked: HashMap::new() };
        for taxonomy in [Taxonomy::Category, Taxonomy::Tag] {
            let texts = changes.iter().flat_map(|change| term_texts(change, taxonomy));
            let slugs: HashSet<String> = texts.clone().map(str::to_lowercase).collect();
            let slugs: Vec<String> = slugs.into_iter().collect();
            for slugs in slugs.chunks(TEXTS) {
                let ids = terms::ids_by_slug(db, taxonomy, slugs)?;
                found.slugs.extend(ids.into_iter().map(|(slug, id)| ((taxonomy, slug), id)));
            }
            let unknown = texts
                .filter(|text| !found.slugs.contains_key(&(taxonomy, text.to_lowercase())))
                .map(|text| search::fold_name(&plain_name(text)));
            let unknown: HashSet<String> = unknown.collect();
            let unknown: Vec<&str> = unknown.iter().map(String::as_str).collect();
            let ids = terms::ids_by_name(db, taxonomy, &unknown)?;
            found.names.extend(ids.into_iter().map(|(name, id)| ((taxonomy, name), id)));
        }
        let Some(scope) = Scope::of(&Some(writer.clone()), None) else { return Ok(found) };
        for kind in [Kind::Venue, Kind::Organizer] {
            let links = changes.iter().filter_map(|change| linked(change, kind)).flatten();
            let names: HashSet<String> = links.filter_map(name_alone).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let ids = linked_posts::ids_by_name(db, kind, &names, &scope)?;
            found.linked.extend(ids.into_iter().map(|(name, id)| ((kind, name), id)));
        }
        Ok(found)
    }

    /// Returns an event's links, or `None` if one of them doesn't exist yet.
    fn links(&self, change: &EventChange) -> Option<Links> {
        let ids_of = |kind| {
            let ids = linked(change, kind).into_iter().flatten().map(|link| match link {
                LinkRef::Id(id) => Some(*id),
                LinkRef::New(_) => self.linked.get(&(kind, name_alone(link)?)).copied(),
            });
            distinct(ids)
        };
        Some(Links {
            categories: self.terms(change.categories.as_deref(), Taxonomy::Category)?,
            tags: self.terms(change.tags.as_deref(), Taxonomy::Tag)?,
            venues: ids_of(Kind::Venue)?,
            organizers: ids_of(Kind::Organizer)?,
        })
    }

    fn terms(&self, refs: Option<&[TermRef]>, taxonomy: Taxonomy) -> Option<Vec<i64>> {
        let ids = refs.unwrap_or_default().iter().map(|one| match one {
            TermRef::Id(id) => Some(*id),
            TermRef::Text(text) => {
                let by_slug = self.slugs.get(&(taxonomy, text.to_lowercase()));
                let by_name = || {
                    let name = search::fold_name(&plain_name(text));
                    self.names.get(&(taxonomy, name)).filter(|_| !plain_name(text).is_empty())
                };
                by_slug.or_else(by_name).copied()
            }
        });
        distinct(ids)
    }
}

fn term_texts(change: &EventChange, taxonomy: Taxonomy) -> impl Iterator<Item = &str> + Clone {
    let refs = match taxonomy {
        Taxonomy::Category => &change.categories,
        Taxonomy::Tag => &change.tags,
    };
    refs.iter().flatten().filter_map(|one| match one {
        TermRef::Id(_) => None,
        TermRef::Text(text) => Some(text.as_str()),
    })
}

fn linked(change: &EventChange, kind: Kind) -> Option<&[LinkRef]> {
    match kind {
        Kind::Venue => change.venues.as_deref(),
        Kind::Organizer => change.organizers.as_deref(),
    }
}

/// Returns the case-folded name of a venue or organizer if the line contains nothing but its name.
/// Any other field would change the existing row.
fn name_alone(link: &LinkRef) -> Option<String> {
    match link {
        LinkRef::New(change) if !change.has_fields_besides_name() => {
            Some(change.folded_name()).filter(|name| !name.is_empty())
        }
        _ => None,
    }
}

/// Removes duplicate ids. Returns `None` if any id is missing.
fn distinct(ids: impl Iterator<Item = Option<i64>>) -> Option<Vec<i64>> {
    let mut all = Vec::new();
    for id in ids {
        let id = id?;
        if !all.contains(&id) {
            all.push(id);
        }
    }
    Some(all)
}

/// Slugs that are already in use.
struct OwnSlugs {
    of_events: HashSet<String>,
    of_series: HashSet<String>,
}

impl OwnSlugs {
    fn of(db: &mut Db, steps: &[Step]) -> Result<OwnSlugs, DatabaseError> {
        let wanted = steps.iter().filter_map(|step| match step {
            Step::New(new) => Some(new.wanted_slug.as_str()),
            Step::Unchanged => None,
        });
        let wanted: HashSet<&str> = wanted.collect();
        let wanted: Vec<&str> = wanted.into_iter().collect();
        let of_events = store::slugs::taken(db, "events", &wanted)?;
        let of_series = store::slugs::taken(db, "series", &wanted)?;
        Ok(OwnSlugs { of_events, of_series })
    }

    /// Returns the free slug for a new event, or `None` if a series already has the slug `wanted`.
    fn slug(&mut self, db: &mut Db, wanted: &str) -> Result<Option<String>, DatabaseError> {
        if self.of_series.contains(wanted) {
            return Ok(None);
        }
        let of_events = &self.of_events;
        let free = slug::free(wanted, |candidate| {
            let is_known = of_events.contains(candidate);
            match is_known || candidate == wanted {
                true => Ok::<_, DatabaseError>(is_known),
                false => Ok(store::slugs::is_taken(db, "events", candidate, 0)?
                    || store::slugs::is_taken(db, "series", candidate, 0)?),
            }
        })?;
        self.of_events.insert(free.clone());
        Ok(Some(free))
    }
}
