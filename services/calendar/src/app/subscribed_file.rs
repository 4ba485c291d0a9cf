//! Checks a subscription's file before the import: whether it is usable, and whether events are
//! missing.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

use super::import_overview::Overview;
use super::timed_reader::TimedReader;
use crate::ical::{Component, ComponentKind, Entry, Occurrence, Reader};
use crate::model::subscription::{MAX_EVENTS, is_great_loss};
use crate::state::State;
use crate::store::subscribed_events::FutureEvent;

const DAY: i64 = 86_400;

/// The events in a file, by UID.
#[derive(Debug, Default)]
pub struct FileContent {
    entries: HashMap<String, Listed>,
}

/// The occurrences under one UID.
#[derive(Debug, Default)]
struct Listed {
    /// Number of future occurrences, not counting any that only exist as overrides.
    future: usize,
    /// Ids of the overrides of these occurrences.
    overridden: HashSet<String>,
    /// Ids of the overrides that are in the future.
    overrides: HashSet<String>,
    /// Whether at least one of the entries isn't an override. If all of them are overrides, the
    /// import keeps the other occurrences.
    has_whole: bool,
    /// Whether there might be more occurrences, because an entry is invalid or has an unsupported
    /// rule.
    is_open: bool,
}

impl Listed {
    /// Adds an entry that is not an override.
    fn add(&mut self, entry: &Entry, overview: &Overview, now: i64) {
        let later = entry.occurrences.iter().filter(|one| is_later(one, now));
        for occurrence in later {
            self.future += 1;
            self.overridden.extend(entry.overridden_as(occurrence, &overview.replaced));
        }
        self.has_whole = true;
        self.is_open |= entry.has_unknown_occurrences;
    }

    /// Returns the number of future occurrences, or `None` if there might be more.
    fn number(&self) -> Option<usize> {
        let others = self.overrides.difference(&self.overridden).count();
        (self.has_whole && !self.is_open).then_some(self.future + others)
    }
}

/// Returns whether an occurrence might be in the future. The time zone for all-day events isn't
/// known here.
fn is_later(occurrence: &Occurrence, now: i64) -> bool {
    occurrence.start.seconds() + DAY > now
}

/// Returns the id of a future occurrence whose event the import keeps because of this override. If
/// the override is invalid, the occurrence that it overrides has to be in the future.
fn later_override(
    state: &State,
    overview: &Overview,
    (component, read): (&Component, Option<&Entry>),
    now: i64,
) -> Option<String> {
    let name = Entry::replaced(component, overview.context_of(state, component)).ok().flatten();
    let name = name.filter(|name| overview.replaced.contains(name))?;
    let is_ahead = match read {
        Some(entry) => entry.occurrences.iter().any(|one| is_later(one, now)),
        None => Entry::moment_of(&component.text("UID"), &name)
            .and_then(Entry::seconds_of)
            .is_some_and(|start| start + DAY > now),
    };
    is_ahead.then_some(name)
}

/// The number of a subscription's future events that are missing from its file, and the total
/// number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    pub lost: usize,
    pub known: usize,
    /// Number of other future events, which don't count because users have changed them.
    pub changed: usize,
}

impl Loss {
    /// Returns whether enough events are missing to suggest that the file is incomplete.
    pub fn is_great(self) -> bool {
        is_great_loss(self.lost, self.known)
    }
}

impl FileContent {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns a message for editors if the file isn't a complete calendar, has too many events, or
    /// has rules that take longer than `time` to expand.
    pub fn read(
        state: &State,
        (bytes, media_type): (&[u8], &str),
        time: Duration,
    ) -> Result<(FileContent, Overview), String> {
        // The run's lease has to last for both passes.
        let deadline = Instant::now() + time;
        let late = || format!("the file cannot be read within {} seconds", time.as_secs());
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::TimedOut => late(),
            _ => format!("the file cannot be read: {error}"),
        };
        let file = || TimedReader::new(bytes, deadline);
        let overview = Overview::of(state, file()).map_err(unreadable)?;
        if !overview.is_calendar {
            let kind = if media_type.is_empty() { "file without a type" } else { media_type };
            return Err(format!("the address responded with a {kind} that is not a calendar"));
        }
        if let Some(cut) = overview.cut {
            let line = cut.line;
            return Err(format!("the file ends at line {line} without END:VCALENDAR"));
        }
        let now = state.clock.unix();
        let (mut content, mut events) = (FileContent::default(), 0);
        let mut reader = Reader::new(file());
        while let Some(component) = reader.next_component().map_err(unreadable)? {
            if component.kind != ComponentKind::Event {
                continue;
            }
            let listed = content.entries.entry(component.text("UID")).or_default();
            let read = Entry::read(&component, overview.context_of(state, &component));
            match &read {
                _ if component.find("RECURRENCE-ID").is_some() => {
                    events += 1;
                    let found = (&component, read.as_ref().ok());
                    listed.overrides.extend(later_override(state, &overview, found, now));
                }
                Ok(entry) => {
                    events += entry.occurrences.len();
                    listed.add(entry, &overview, now);
                }
                Err(_) => {
                    events += 1;
                    listed.is_open = true;
                }
            }
            if events > MAX_EVENTS {
                return Err(format!("the file has more than {MAX_EVENTS} events"));
            }
            if Instant::now() >= deadline {
                return Err(late());
            }
        }
        Ok((content, overview))
    }

    /// Returns whether the file contains the event with the external id `name`, or its series.
    pub fn has(&self, name: &str) -> bool {
        self.uid_of(name).is_some()
    }

    /// Returns the UID contained in an external id, if the file has that UID. An external id starts
    /// with the UID. If several entries share that UID, the entry's start follows, and then, in a
    /// series, the occurrence's start.
    fn uid_of<'n>(&self, name: &'n str) -> Option<&'n str> {
        let without = |mark: char| move |name: &'n str| name.rsplit_once(mark).map(|(uid, _)| uid);
        let of_series = Some(name).filter(|name| Entry::is_occurrence_id(name));
        let of_series = of_series.and_then(without('#'));
        let names = [Some(name), of_series];
        let apart = names.map(|name| name.and_then(without('~')));
        names.into_iter().chain(apart).flatten().find(|uid| self.entries.contains_key(*uid))
    }

    /// Counts the future events that are missing from the file.
    pub fn loss<'e>(&self, known: impl Iterator<Item = &'e FutureEvent>) -> Loss {
        let (mut missing, mut total, mut changed) = (0, 0, 0);
        let mut by_uid: HashMap<&str, usize> = HashMap::new();
        for event in known {
            if !event.changed.is_empty() {
                changed += 1;
                continue;
            }
            total += 1;
            match self.uid_of(&event.name) {
                Some(uid) => *by_uid.entry(uid).or_default() += 1,
                None => missing += 1,
            }
        }
        for (uid, stored) in by_uid {
            if let Some(number) = self.entries.get(uid).and_then(Listed::number) {
                missing += stored.saturating_sub(number);
            }
        }
        Loss { lost: missing, known: total, changed }
    }
}
