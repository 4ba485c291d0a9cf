//! What an import learns from a first look through its file.

use std::collections::HashSet;
use std::io::{self, BufRead};

use crate::ical::{
    Component, ComponentKind, Entry, EntryContext, ForeignZones, PRODUCT, Reader, known_zone,
};
use crate::model::zone::Zone;
use crate::state::State;

/// What an import needs to know of the file as a whole, before its first event is written.
#[derive(Default)]
pub struct Overview {
    /// Whether it is a calendar at all.
    pub is_calendar: bool,
    zones: ForeignZones,
    /// The zone that the file names for all its events.
    zone: Option<Zone>,
    /// Repetitions that an entry of their own replaces.
    pub replaced: HashSet<String>,
    /// This calendar, or another one like it, wrote the file.
    pub is_own: bool,
    /// Components that the file has.
    pub components: usize,
    /// Where the file is cut off: it lacks the end of its calendar.
    pub cut: Option<Cut>,
}

/// The end of a file that is cut off.
#[derive(Clone, Copy)]
pub struct Cut {
    /// The last line.
    pub line: u64,
    /// The cut is in an event, which is reported by itself.
    pub is_in_event: bool,
}

impl Overview {
    /// Looks through a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(state: &State, file: impl BufRead) -> io::Result<Overview> {
        let mut overview = Overview::default();
        let mut replacing = Vec::new();
        let mut reader = Reader::new(file);
        let mut is_in_event = false;
        while let Some(mut component) = reader.next_component()? {
            overview.components += 1;
            is_in_event = component.kind == ComponentKind::Event && !component.has_end;
            match component.kind {
                ComponentKind::Zone => overview.zones.add(&component),
                ComponentKind::Event if component.find("RECURRENCE-ID").is_some() => {
                    // Zones may stand behind their events, and nothing else is needed of these.
                    component
                        .properties
                        .retain(|one| matches!(one.name.as_str(), "UID" | "RECURRENCE-ID"));
                    replacing.push(component);
                }
                ComponentKind::Event => {}
            }
        }
        overview.is_calendar = reader.is_calendar;
        overview.is_own = reader.product.as_deref() == Some(PRODUCT);
        overview.cut = reader.is_open.then_some(Cut { line: reader.line, is_in_event });
        overview.zone = reader.zone_name.as_deref().and_then(known_zone);
        let names = |component: &Component| {
            Entry::replaced(component, overview.context(state)).ok().flatten()
        };
        let replaced: HashSet<String> = replacing.iter().filter_map(names).collect();
        Ok(Overview { replaced, ..overview })
    }

    /// Returns what reading entries of the file needs to know.
    pub fn context<'a>(&'a self, state: &'a State) -> EntryContext<'a> {
        EntryContext {
            zones: &self.zones,
            calendar: self.zone.as_ref(),
            site: &state.site.settings.site_timezone,
            now: state.clock.now(),
        }
    }
}
