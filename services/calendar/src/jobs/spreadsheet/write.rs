//! Writes events as a table.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::Write;

use anyhow::Context as _;
use batch::{ProgressReporter, Unit};
use database::{DatabaseError, Db};
use serde::Serialize;

use super::columns::{COLUMNS, Column, ID, SEPARATOR, escaped, inert};
use crate::app::series_parts;
use crate::model::event::{Event, Links};
use crate::model::event_status::EventStatus;
use crate::model::included::InSeries;
use crate::model::linked::Kind;
use crate::model::list::Scope;
use crate::model::search;
use crate::model::series::{Membership, Series};
use crate::model::series_fields::DATES;
use crate::model::term::Taxonomy;
use crate::state::State;
use crate::store::{
    event_statuses, events, linked_posts, links, read_transactions, series, series_events, sql,
    terms,
};
use crate::wire::term_input::plain_name;
use crate::wire::{dates, recurrence};

/// Number of events to read per query.
const ROWS: i64 = 50;

/// Number of a series' events to read per query.
const AT_ONCE: usize = 50;

/// The outcome of writing a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WrittenTable {
    pub events: u64,
    /// Number of password-protected events, which the table doesn't include.
    pub left_out: u64,
    /// Number of series whose first events in the table were moved. Loading the table turns these
    /// events into separate ones.
    pub begin_moved: u64,
    /// Number of series that lost their rule, because all of their events were moved.
    pub without_rule: u64,
}

impl fmt::Display for WrittenTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} events", self.events)?;
        if self.left_out > 0 {
            write!(f, "; password-protected events omitted: {}", self.left_out)?;
        }
        if self.begin_moved > 0 {
            let text = "series whose first events were moved and become separate events";
            write!(f, "; {text}: {}", self.begin_moved)?;
        }
        if self.without_rule > 0 {
            let text = "series without their rule, because all their events were moved";
            write!(f, "; {text}: {}", self.without_rule)?;
        }
        Ok(())
    }
}

/// Writes all events ordered by id, except for events that are in the trash or have a password.
/// They are read from a single database snapshot.
///
/// # Errors
/// Returns an error if the output cannot be written, or the database fails.
pub fn export_table(state: &State, out: &mut dyn Write) -> anyhow::Result<WrittenTable> {
    let mut db = state.pools.connect()?;
    let progress = ProgressReporter::new("exporting", Unit::Items("events"), None);
    // Without a byte order mark, spreadsheets assume a legacy encoding.
    out.write_all(b"\xef\xbb\xbf").context("cannot be written")?;
    let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    table.write_record(COLUMNS.map(Column::name)).context("cannot be written")?;
    let mut written = WrittenTable::default();
    read_transactions::read_transaction(&mut db, |db| {
        sql::without_idle_timeout(db)?;
        let (mut last, mut carriers) = (0, HashMap::new());
        loop {
            let ids = events::untrashed_after(db, last, ROWS)?;
            let Some(end) = ids.last() else { return anyhow::Ok(()) };
            last = *end;
            let links = links::of_events(db, &ids)?;
            let statuses = event_statuses::of_events(db, &ids)?;
            let series = series::of_events(db, &ids)?;
            for event in events::by_ids(db, &ids)? {
                // The table doesn't contain passwords, so loading it would make the event public.
                if event.password.is_some() {
                    written.left_out += 1;
                    continue;
                }
                let links = links.get(&event.id).cloned().unwrap_or_default();
                let status = statuses.get(&event.id).cloned().unwrap_or_default();
                let recurrence = match series.get(&event.id) {
                    Some(one) => recurrence_of(db, one, (&mut carriers, &mut written))?,
                    None => String::new(),
                };
                let cells = cells(db, &event, &links, (&status, &recurrence))?;
                table.write_record(cells).context("cannot be written")?;
                written.events += 1;
                progress.set(written.events);
            }
        }
    })?;
    table.flush().context("cannot be written")?;
    progress.finish();
    Ok(written)
}

/// Returns the series' recurrence from this event onwards if it belongs in this event's row, or an
/// empty string otherwise. Loading that row creates the events that follow. `carriers` maps each
/// series to the event whose row contains the recurrence.
fn recurrence_of(
    db: &mut Db,
    one: &InSeries,
    (carriers, written): (&mut HashMap<i64, Option<i64>>, &mut WrittenTable),
) -> Result<String, DatabaseError> {
    let InSeries { series, membership } = one;
    let carrier = match carriers.get(&series.id) {
        Some(known) => *known,
        None => {
            let (found, is_first) = carrier(db, series)?;
            written.begin_moved += u64::from(found.is_some() && !is_first);
            written.without_rule += u64::from(found.is_none());
            carriers.insert(series.id, found);
            found
        }
    };
    if carrier != Some(membership.event) {
        return Ok(String::new());
    }
    let rest = series_parts::from_on(&series.plan, membership.occurrence);
    Ok(rest.map(|rest| recurrence::lines(&rest)).unwrap_or_default())
}

/// Returns the event whose row contains the series' recurrence, i.e. the first event in the table
/// that takes place as scheduled. Also returns whether it is the series' first event in the table.
fn carrier(db: &mut Db, series: &Series) -> Result<(Option<i64>, bool), DatabaseError> {
    let members = series_events::members(db, series.id)?;
    let mut is_first = true;
    let has_own_dates = |member: &Membership| member.changed.iter().any(|field| field == DATES);
    for members in members.chunks(AT_ONCE) {
        let ids: Vec<i64> = members.iter().map(|member| member.event).collect();
        let all = events::by_ids(db, &ids)?;
        let in_table = all.iter().filter(|one| !one.status.is_trashed() && one.password.is_none());
        let in_table: HashSet<i64> = in_table.map(|one| one.id).collect();
        for member in members.iter().filter(|member| in_table.contains(&member.event)) {
            let begins = series_parts::from_on(&series.plan, member.occurrence).is_some();
            if begins && !has_own_dates(member) {
                return Ok((Some(member.event), is_first));
            }
            is_first = false;
        }
    }
    Ok((None, is_first))
}

fn cells(
    db: &mut Db,
    event: &Event,
    links: &Links,
    (status, recurrence): (&EventStatus, &str),
) -> Result<Vec<String>, DatabaseError> {
    let mut cells = Vec::with_capacity(COLUMNS.len());
    for column in COLUMNS {
        let text = match column.name() {
            "venue" => linked(db, Kind::Venue, &links.venues)?,
            "organizer" => linked(db, Kind::Organizer, &links.organizers)?,
            "categories" => named(db, Taxonomy::Category, &links.categories)?,
            "tags" => named(db, Taxonomy::Tag, &links.tags)?,
            "recurrence" => recurrence.to_owned(),
            name => field(name, event, status),
        };
        cells.push(inert(&text));
    }
    Ok(cells)
}

fn field(name: &str, event: &Event, status: &EventStatus) -> String {
    let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    match name {
        "slug" => event.slug.clone(),
        "title" => event.title.clone(),
        "status" => event.status.as_str().to_owned(),
        "start_date" => dates::written(event.schedule.start_local),
        "end_date" => dates::written(event.schedule.end_local),
        "all_day" => yes(event.schedule.all_day),
        "timezone" => event.schedule.zone.name().to_owned(),
        "cost" => joined(&event.cost.iter().map(|cost| escaped(cost)).collect::<Vec<_>>()),
        "website" => event.website.clone(),
        "featured" => yes(event.featured),
        "hide_from_listings" => yes(!event.listed),
        "event_status" => status.occurring.name().to_owned(),
        "event_status_reason" => status.reason.clone(),
        "excerpt" => event.excerpt.clone(),
        "description" => event.description.clone(),
        "date_utc" => dates::written(event.published_utc),
        "external_id" => event.external_id.clone().unwrap_or_default(),
        _ => String::new(),
    }
}

/// Returns whether the cell syntax allows `name` without an id or slug.
fn is_plain(name: &str) -> bool {
    name.trim() == name && !name.starts_with(ID) && !name.is_empty()
}

/// Returns a cell with venues or organizers. If the name alone would refer to a different row, the
/// id is written before it. Loading the row then fails in a calendar where a different name has
/// that id.
fn linked(db: &mut Db, kind: Kind, ids: &[i64]) -> Result<String, DatabaseError> {
    let mut labels = Vec::new();
    for id in ids {
        let name = linked_posts::label(db, kind, *id)?.map(|(_, name)| name).unwrap_or_default();
        let folded = search::fold_name(&name);
        let found = linked_posts::named(db, kind, &folded, &Scope::untrashed(), None)?;
        let is_unique = is_plain(&name) && found.first() == Some(id);
        let name = escaped(&name);
        labels.push(if is_unique { name } else { format!("{ID}{id} {name}") });
    }
    Ok(joined(&labels))
}

/// Returns a cell with the names of categories or tags. If a name would refer to a different term,
/// the slug is written instead.
fn named(db: &mut Db, taxonomy: Taxonomy, ids: &[i64]) -> Result<String, DatabaseError> {
    let mut labels = Vec::new();
    for id in ids {
        let Some(term) = terms::find(db, taxonomy, *id)? else { continue };
        let by_slug = terms::find_by_slug(db, taxonomy, &term.name.to_lowercase())?;
        let found = match by_slug {
            Some(other) => Some(other.id),
            None => terms::named(db, taxonomy, &term.name, None, 0)?,
        };
        // A name that consists of digits could be mistaken for an id, and loading strips HTML tags
        // from names.
        let is_number = term.name.bytes().all(|byte| byte.is_ascii_digit());
        let is_same = is_plain(&term.name) && plain_name(&term.name) == term.name;
        let is_unique = is_same && found == Some(*id) && !is_number;
        labels.push(if is_unique { escaped(&term.name) } else { term.slug });
    }
    Ok(joined(&labels))
}

fn joined(labels: &[String]) -> String {
    labels.join(&format!(" {SEPARATOR} "))
}
