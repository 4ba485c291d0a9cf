//! Loading of events, venues, organizers and terms through the same path as creating them.
//!
//! A line is the body of a create with `type` beside it: `event`, `venue`, `organizer`,
//! `category` or `tag`. What exists already stays as it is: an event, a venue or an organizer with
//! the same slug, a term with the same name. So a second run changes nothing. Dates may be
//! relative, as everywhere.

use std::io::BufRead;

use anyhow::{Context, bail};
use database::Db;
use serde_json::Value;

use crate::error::Error;
use crate::handlers::{
    events as event_handlers, linked as linked_handlers, terms as term_handlers,
};
use crate::model::linked::Kind;
use crate::model::role::Person;
use crate::model::slug;
use crate::model::term::Taxonomy;
use crate::state::{Scene, State};
use crate::store::{events, linked, people, sql, upkeep};
use crate::wire::addresses::Addresses;
use crate::wire::cleaned::Cleaned;
use crate::wire::params::Params;

/// What a load did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub created: u64,
    pub kept: u64,
}

/// Loads lines of JSON; each line is a transaction of its own. The database learns at the end how
/// much it holds.
pub fn load(state: &State, lines: impl BufRead) -> anyhow::Result<Loaded> {
    let mut loaded = Loaded::default();
    let outcome = load_lines(state, lines, &mut loaded);
    // What came before a faulty line stays, and so wants to be known too.
    if loaded.created > 0
        && let Err(error) = state.pools.connect().and_then(|mut db| upkeep::after_load(&mut db))
    {
        log::warn!("the database gathers statistics later, because it could not now: {error}");
    }
    outcome.map(|()| loaded)
}

fn load_lines(state: &State, lines: impl BufRead, loaded: &mut Loaded) -> anyhow::Result<()> {
    let writer = state.pools.read_blocking(first_user)?;
    for (number, line) in lines.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let created =
            load_line(state, &writer, &line).with_context(|| format!("line {}", number + 1))?;
        loaded.created += u64::from(created);
        loaded.kept += u64::from(!created);
    }
    Ok(())
}

/// Everything is loaded in the name of the first user.
fn first_user(db: &mut Db) -> Result<Person, Error> {
    let people = people::list(db)?;
    people.into_iter().next().ok_or_else(|| Error::Internal("there is no user yet".to_owned()))
}

fn load_line(state: &State, writer: &Person, line: &str) -> anyhow::Result<bool> {
    let body: Value = serde_json::from_str(line)?;
    let kind = body.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let params = Params::from_json(body);
    let cleaned = Cleaned::of(Cleaned::wanted(&params));
    let outcome = state.pools.write_blocking(|db| {
        sql::one_writer(db)?;
        let mut scene = Scene {
            db,
            actor: Some(writer.clone()),
            site: &state.site,
            addresses: Addresses { base: String::new(), alias: false },
            now: state.clock.now(),
            // Images are recorded by address here, whatever the mode: a load asks nobody.
            fetched: None,
            cleaned: &cleaned,
        };
        load_one(&mut scene, &kind, &params)
    });
    match outcome {
        Ok(created) => Ok(created),
        Err(Error::Parameters(problems)) => {
            let invalid = problems.invalid.iter().map(|one| format!("{} {}", one.name, one.text));
            let missing = problems.missing.iter().map(|name| format!("{name} is missing"));
            bail!("{}", missing.chain(invalid).collect::<Vec<_>>().join("; "))
        }
        Err(error) => Err(error.into()),
    }
}

fn load_one(scene: &mut Scene<'_>, kind: &str, params: &Params) -> Result<bool, Error> {
    let slug_of = |field: &str| {
        let named = params.text("slug").or_else(|| params.text(field)).unwrap_or_default();
        slug::clean(named)
    };
    match kind {
        "event" => {
            if events::find_by_slug(scene.db, &slug_of("title"))?.is_some() {
                return Ok(false);
            }
            event_handlers::create_in(scene, params).map(|_| true)
        }
        "venue" => load_linked(scene, Kind::Venue, &slug_of("venue"), params),
        "organizer" => load_linked(scene, Kind::Organizer, &slug_of("organizer"), params),
        "category" => load_term(scene, Taxonomy::Category, params),
        "tag" => load_term(scene, Taxonomy::Tag, params),
        _ => {
            Err(Error::Internal("type must be event, venue, organizer, category or tag".to_owned()))
        }
    }
}

fn load_linked(
    scene: &mut Scene<'_>,
    kind: Kind,
    slug: &str,
    params: &Params,
) -> Result<bool, Error> {
    if linked::find_by_slug(scene.db, kind, slug)?.is_some() {
        return Ok(false);
    }
    linked_handlers::create_in(scene, kind, params).map(|_| true)
}

fn load_term(scene: &mut Scene<'_>, taxonomy: Taxonomy, params: &Params) -> Result<bool, Error> {
    match term_handlers::create_in(scene, taxonomy, params) {
        Ok(_) => Ok(true),
        Err(Error::TermExists(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
