//! Loading of events, venues, organizers and terms through the same path as creating them.
//!
//! A line is the body of a create with `type` beside it: `event`, `venue`, `organizer`,
//! `category` or `tag`. What exists already stays as it is: an event, a venue or an organizer with
//! the same slug, a term with the same name. So a second run changes nothing. Dates may be
//! relative, as everywhere.

use std::io::BufRead;

use anyhow::{Context, bail};
use batch::{BoundedLines, ProgressReporter, Unit};
use database::Db;
use serde::Serialize;
use serde_json::Value;

use crate::app::{self, Interrupt, RequestContext};
use crate::error::Error;
use crate::model::linked::Kind;
use crate::model::role::User;
use crate::model::slug;
use crate::model::term::Taxonomy;
use crate::state::State;
use crate::store::{events, linked_posts, statistics, users};
use crate::wire::params::Params;

/// The longest line, in bytes; the body of a create has half of it at most.
const LONGEST_LINE: usize = 2 << 20;

/// What a load did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Loaded {
    pub created: u64,
    pub kept: u64,
}

/// Loads lines of JSON; each line is a transaction of its own. At the end the database gathers
/// statistics.
pub fn load(state: &State, lines: impl BufRead) -> anyhow::Result<Loaded> {
    let mut loaded = Loaded::default();
    let outcome = load_lines(state, lines, &mut loaded);
    // What was loaded before an invalid line stays, so its statistics count too.
    if loaded.created > 0
        && let Err(error) = state.pools.connect().and_then(|mut db| statistics::gather(&mut db))
    {
        log::warn!("the database gathers statistics later, because it could not now: {error}");
    }
    outcome.map(|()| loaded)
}

fn load_lines(state: &State, lines: impl BufRead, loaded: &mut Loaded) -> anyhow::Result<()> {
    let writer = state.pools.read_blocking(first_user)?;
    let progress = ProgressReporter::new("loading", Unit::Items("lines"), None);
    let mut lines = BoundedLines::new(lines, LONGEST_LINE);
    while let Some((number, line)) = lines.next_line()? {
        let place = || format!("line {number}");
        let line = line.text().with_context(place)?;
        if !line.trim().is_empty() {
            let created = load_line(state, &writer, line).with_context(place)?;
            loaded.created += u64::from(created);
            loaded.kept += u64::from(!created);
        }
        progress.set(number);
    }
    progress.finish();
    Ok(())
}

/// Everything is loaded in the name of the first user.
fn first_user(db: &mut Db) -> Result<User, Error> {
    let users = users::list(db)?;
    users.into_iter().next().ok_or_else(|| Error::Internal("there is no user yet".to_owned()))
}

fn load_line(state: &State, writer: &User, line: &str) -> anyhow::Result<bool> {
    let body: Value = serde_json::from_str(line)?;
    let kind = body.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let params = Params::from_json(body);
    let outcome =
        app::write_blocking(state, writer, &params, |context| load_one(context, &kind, &params));
    match outcome {
        Ok(created) => Ok(created),
        Err(Error::Parameters(errors)) => {
            let invalid = errors.invalid.iter().map(|one| format!("{} {}", one.name, one.text));
            let missing = errors.missing.iter().map(|name| format!("{name} is missing"));
            bail!("{}", missing.chain(invalid).collect::<Vec<_>>().join("; "))
        }
        Err(error) => Err(error.into()),
    }
}

fn load_one(
    context: &mut RequestContext<'_>,
    kind: &str,
    params: &Params,
) -> Result<bool, Interrupt> {
    let slug_of = |field: &str| {
        let named = params.text("slug").or_else(|| params.text(field)).unwrap_or_default();
        slug::slugify(named)
    };
    match kind {
        "event" => {
            if events::find_by_slug(context.db, &slug_of("title"))?.is_some() {
                return Ok(false);
            }
            app::events::create_in(context, params).map(|_| true)
        }
        "venue" => load_linked(context, Kind::Venue, &slug_of("venue"), params),
        "organizer" => load_linked(context, Kind::Organizer, &slug_of("organizer"), params),
        "category" => load_term(context, Taxonomy::Category, params),
        "tag" => load_term(context, Taxonomy::Tag, params),
        _ => {
            let text = "type must be event, venue, organizer, category or tag";
            Err(Error::Internal(text.to_owned()).into())
        }
    }
}

fn load_linked(
    context: &mut RequestContext<'_>,
    kind: Kind,
    slug: &str,
    params: &Params,
) -> Result<bool, Interrupt> {
    if linked_posts::find_by_slug(context.db, kind, slug)?.is_some() {
        return Ok(false);
    }
    app::linked::create_in(context, kind, params).map(|_| true)
}

fn load_term(
    context: &mut RequestContext<'_>,
    taxonomy: Taxonomy,
    params: &Params,
) -> Result<bool, Interrupt> {
    match app::terms::create_in(context, taxonomy, params) {
        Ok(_) => Ok(true),
        Err(Interrupt::Failed(Error::TermExists(_))) => Ok(false),
        Err(error) => Err(error),
    }
}
