//! Checks a subscription's file before the import: is it usable, and are events missing?

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use super::import_overview::Overview;
use super::timed_reader::TimedReader;
use crate::ical::{ComponentKind, Entry, Reader};
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
#[derive(Clone, Copy, Debug, Default)]
struct Listed {
    /// Number of future occurrences.
    future: usize,
    /// There may be more of them, because an entry is faulty, overrides occurrences, or has a rule
    /// that we don't support.
    is_open: bool,
}

/// How many of a subscription's future events are missing from its file, out of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    pub lost: usize,
    pub known: usize,
    /// Number of other future events. They don't count, because users have changed them.
    pub changed: usize,
}

impl Loss {
    /// Returns whether so much is missing that the file may be incomplete.
    pub fn is_great(self) -> bool {
        is_great_loss(self.lost, self.known)
    }
}

impl FileContent {
    /// Reads a file.
    ///
    /// # Errors
    /// A message for editors. The file is not a complete calendar, has too many events, or has
    /// rules whose expansion takes longer than `time`.
    pub fn read(
        state: &State,
        (bytes, media_type): (&[u8], &str),
        time: Duration,
    ) -> Result<(FileContent, Overview), String> {
        // A run relies on its lease during both passes.
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
            match Entry::read(&component, overview.context(state)) {
                Ok(entry) if entry.replaces.is_none() => {
                    events += entry.occurrences.len();
                    // We don't know the time zone of an all-day event here.
                    let starts = entry.occurrences.iter().map(|one| one.start.seconds());
                    listed.future += starts.filter(|start| start + DAY > now).count();
                    listed.is_open |= entry.has_unknown_occurrences;
                }
                Ok(_) | Err(_) => {
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

    /// Returns whether the file has the event with this external id, or its series.
    pub fn has(&self, name: &str) -> bool {
        self.uid_of(name).is_some()
    }

    /// Returns the UID behind an external id, if the file has that UID. An external id is a UID,
    /// possibly followed by the start of an entry (if several share the UID) and the start of an
    /// occurrence.
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
            let listed = self.entries.get(uid).copied().unwrap_or_default();
            if !listed.is_open {
                missing += stored.saturating_sub(listed.future);
            }
        }
        Loss { lost: missing, known: total, changed }
    }
}
