//! Expands stored series with the same code that expands imported ones.

use super::entry::Entry;
use super::foreign_zones::ForeignZones;
use super::lines::{line, text_line};
use super::moment::{EntryContext, Moment};
use super::occurrences::Repetition;
use super::plan::lines;
use super::reader::Reader;
use crate::model::series::{Series, SeriesLimits};
use crate::model::zone::Zone;

/// The occurrences that a series should have.
pub struct Expansion {
    /// The moment, start and end of each occurrence, in ascending order.
    pub occurrences: Vec<(i64, Moment, Moment)>,
    /// How the series repeats, and how far it has now been expanded.
    pub repetition: Repetition,
}

/// Expands a series. Returns `None` if the rule can't be expanded or yields no occurrences.
pub fn expand(
    series: &Series,
    (site, now): (&Zone, jiff::Timestamp),
    limits: SeriesLimits,
) -> Option<Expansion> {
    let mut text = String::new();
    line(&mut text, "BEGIN", "VEVENT");
    text_line(&mut text, "UID", &series.uid);
    lines(&mut text, &series.plan);
    line(&mut text, "END", "VEVENT");
    let component = Reader::new(text.as_bytes()).next_component().ok()??;
    let zones = ForeignZones::default();
    let context =
        EntryContext { zones: &zones, calendar_number: 0, calendar: None, site, now, limits };
    let entry = Entry::read(&component, context).ok()?;
    let repetition = entry.repetition?;
    let occurrences = entry.occurrences.into_iter();
    let occurrences = occurrences.map(|one| (one.original.seconds(), one.start, one.end));
    Some(Expansion { occurrences: occurrences.collect(), repetition })
}
