//! The iCalendar reader neither panics nor loops on any file, and limits the events of an entry.
#![no_main]

use calendar::{
    Component, ComponentKind, Entry, EntryContext, ForeignZones, Reader, SeriesLimits, Zone,
};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;

fn components(file: &[u8]) -> Vec<Component> {
    let mut reader = Reader::new(file);
    let mut all = Vec::new();
    while let Ok(Some(component)) = reader.next_component() {
        all.push(component);
    }
    all
}

fuzz_target!(|data: &[u8]| {
    let all = components(data);
    let mut zones = ForeignZones::default();
    all.iter().filter(|one| one.kind == ComponentKind::Zone).for_each(|zone| zones.add(zone));
    let site = Zone::named("Europe/Vienna").unwrap_or_else(Zone::utc);
    let now = Timestamp::from_second(1_800_000_000).unwrap_or(Timestamp::UNIX_EPOCH);
    let calendar = Some(&site).filter(|_| data.len().is_multiple_of(2));
    let limits = SeriesLimits::IMPORTED;
    for component in all.iter().filter(|one| one.kind == ComponentKind::Event) {
        let (calendar_number, site) = (component.calendar, &site);
        let context = EntryContext { zones: &zones, calendar_number, calendar, site, now, limits };
        let _ = Entry::replaced(component, context);
        let Ok(entry) = Entry::read(component, context) else { continue };
        assert!((1..=501).contains(&entry.occurrences.len()));
        for occurrence in &entry.occurrences {
            assert_eq!(occurrence.fields(Some(occurrence)).len(), 0);
        }
    }
});
