//! The first pass of an import over its file.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};

use crate::ical::{
    Component, ComponentKind, Entry, EntryContext, ForeignZones, Ignored, Moment, Reader,
    Revisions, revision_of,
};
use crate::model::zone::Zone;
use crate::state::State;

/// Maximum number of `RANGE=THISANDFUTURE` overrides per file, since they are kept in memory.
const MAX_RANGES: usize = 100;

/// Maximum total size of these overrides, in bytes.
const MAX_RANGE_BYTES: usize = 8 << 20;

/// Maximum total size, in bytes, of the series whose excluded occurrences are compared with
/// overrides. A separate limit of the same size applies to the other series, whose ends are
/// compared.
const MAX_EXCLUDING_BYTES: usize = 1 << 20;

/// The properties to read from a series with excluded occurrences.
const EXCLUDING: [&str; 3] = ["EXDATE", "SEQUENCE", "UID"];

/// The additional properties to read if the series' rule has an end.
const ENDING: [&str; 2] = ["DTSTART", "RRULE"];

/// The properties to read from an override.
const OVERRIDE: [&str; 6] =
    ["DTSTAMP", "DTSTART", "LAST-MODIFIED", "RECURRENCE-ID", "SEQUENCE", "UID"];

/// Facts about the file that the import must know before it writes the first event.
#[derive(Default)]
pub struct Overview {
    /// Whether the file is a calendar.
    pub is_calendar: bool,
    zones: ForeignZones,
    /// The default time zones of the file's calendars, by [`Component::calendar`].
    default_zones: HashMap<usize, Zone>,
    /// Occurrences that an override replaces.
    pub replaced: HashSet<String>,
    /// The overrides among them that cancel an occurrence without the details to create its event.
    pub withdrawn: HashSet<String>,
    /// Whether any entry has a RECURRENCE-ID.
    pub has_replacements: bool,
    /// UIDs that look like occurrence ids. Our feeds contain such entries for detached occurrences,
    /// including occurrences that start another series.
    pub listed: HashSet<String>,
    /// Indexes of components that a later revision supersedes.
    superseded: HashSet<usize>,
    /// Indexes of components that share their UID with another event.
    pub repeated: HashSet<usize>,
    /// `RANGE=THISANDFUTURE` overrides, by UID.
    ranges: HashMap<String, Vec<Component>>,
    /// Total size of `ranges` in bytes.
    range_bytes: usize,
    /// Line numbers of the `RANGE=THISANDFUTURE` overrides that a later revision supersedes.
    superseded_ranges: HashSet<u64>,
    /// Ignored content, anywhere in the file.
    pub ignored: Ignored,
    /// Number of components in the file.
    pub components: usize,
    /// The point of truncation. `None` if the file ends with `END:VCALENDAR`, or with the end of a
    /// bare event.
    pub cut: Option<Cut>,
}

/// The point where a file was truncated.
#[derive(Clone, Copy)]
pub struct Cut {
    /// The last line before the cut.
    pub line: u64,
    /// Whether the cut is within an event. Such an event is reported separately.
    pub is_in_event: bool,
}

impl Overview {
    /// Reads the whole file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn of(state: &State, file: impl BufRead) -> io::Result<Overview> {
        let mut overview = Overview::default();
        let (mut replacing, mut series) = (Vec::new(), HashSet::new());
        let mut revisions = Revisions::default();
        let (mut excluding, mut excluding_bytes) = (Vec::new(), [0_usize; 2]);
        let mut reader = Reader::new(file);
        let mut is_in_event = false;
        while let Some(mut component) = reader.next_component()? {
            let number = overview.components;
            overview.components += 1;
            is_in_event = component.kind == ComponentKind::Event && !component.has_end;
            match component.kind {
                ComponentKind::Zone => overview.zones.add(&component),
                // Components with an unknown METHOD are only reported.
                ComponentKind::Event if !component.has_known_method() => {
                    overview.has_replacements |= component.find("RECURRENCE-ID").is_some();
                }
                ComponentKind::Event if component.find("RECURRENCE-ID").is_some() => {
                    if component.is_range() {
                        overview.add_range(&component);
                    }
                    let is_series = component.rules().next().is_some();
                    let is_withdrawn = component.is_cancelled() && !component.has_details();
                    // Time zones can follow the events that use them, so names are resolved later.
                    // Until then, keep only these properties of each override.
                    component.properties.retain(|one| OVERRIDE.contains(&one.name.as_str()));
                    replacing.push((number, component, (is_series, is_withdrawn)));
                }
                ComponentKind::Event if component.is_whole() => {
                    // An entry with an invalid UID is only reported.
                    let Ok(uid) = Entry::uid(&component) else { continue };
                    revisions.take((&uid, None), &component, number);
                    if component.is_series() {
                        series.insert(uid.clone());
                    }
                    if Entry::is_occurrence_id(&uid) {
                        overview.listed.insert(uid);
                    }
                    let has_end = component.rules().any(|rule| rule.value.contains("UNTIL"))
                        && component.find("RDATE").is_none();
                    let excludes = component.find("EXDATE").is_some();
                    if (excludes || has_end) && component.sequence() > 0 {
                        component.properties.retain(|one| {
                            EXCLUDING.contains(&one.name.as_str())
                                || (has_end && ENDING.contains(&one.name.as_str()))
                        });
                        let bytes = &mut excluding_bytes[usize::from(excludes)];
                        *bytes += component.bytes();
                        if *bytes <= MAX_EXCLUDING_BYTES {
                            excluding.push(component);
                        }
                    }
                }
                ComponentKind::Event => {}
            }
        }
        overview.is_calendar = reader.is_calendar;
        overview.ignored = std::mem::take(&mut reader.ignored);
        overview.cut = reader.is_open.then_some(Cut { line: reader.line, is_in_event });
        overview.default_zones = std::mem::take(&mut reader.default_zones);
        overview.has_replacements |= !replacing.is_empty();
        let overridden = replacing.iter().map(|(_, component, _)| component.text("UID")).collect();
        let context = |one: &Component| overview.context_of(state, one);
        let excluded = excluded(&excluding, &overridden, context);
        let ends = ends(&excluding, &overridden, context);
        let (mut replaced, mut removed) = (HashSet::new(), Vec::new());
        let mut withdrawn: Vec<(usize, String)> = Vec::new();
        for (number, component, (is_series, is_withdrawn)) in replacing {
            let name = Entry::replaced(&component, context(&component)).ok().flatten();
            let Some(name) = name else { continue };
            // The override is applied together with its series, or superseded by another one that
            // is.
            let is_known = overview.has_range(&component)
                || overview.superseded_ranges.contains(&component.line);
            if is_known && series.contains(&component.text("UID")) {
                continue;
            }
            let uid = component.text("UID");
            let key = Entry::moment_of(&uid, &name).unwrap_or_default();
            let sequence = excluded.get(&uid).and_then(|keys| keys.get(key));
            // An override with a rule is the rest of a series that a later revision ended earlier.
            let end = ends.get(&uid).filter(|_| is_series);
            let end = end.filter(|(_, last)| component.overrides_after(last, context(&component)));
            let sequence = sequence.max(end.map(|(sequence, _)| sequence));
            if sequence.is_some_and(|sequence| *sequence > component.sequence()) {
                removed.push(number);
                continue;
            }
            if component.is_whole() {
                revisions.take((&uid, Some(&name)), &component, number);
            }
            if is_withdrawn {
                withdrawn.push((number, name.clone()));
            }
            replaced.insert(name);
        }
        let (mut superseded, repeated) = revisions.into_numbers();
        superseded.extend(removed);
        withdrawn.retain(|(number, _)| !superseded.contains(number));
        let withdrawn = withdrawn.into_iter().map(|(_, name)| name).collect();
        Ok(Overview { replaced, withdrawn, superseded, repeated, ..overview })
    }

    /// Keeps a `RANGE=THISANDFUTURE` override, unless there are too many. If several start at the
    /// same occurrence, the latest revision wins.
    fn add_range(&mut self, component: &Component) {
        let is_full = self.ranges.values().map(Vec::len).sum::<usize>() >= MAX_RANGES
            || self.range_bytes + component.bytes() > MAX_RANGE_BYTES;
        if !component.is_whole() {
            return;
        }
        let of_series = self.ranges.get_mut(&component.text("UID"));
        let moment = |one: &Component| one.text("RECURRENCE-ID");
        let revision = |one: &Component| revision_of(one).unwrap_or_default();
        let same =
            of_series.and_then(|all| all.iter_mut().find(|one| moment(one) == moment(component)));
        match same {
            Some(known) if revision(component).is_older_than(&revision(known)) => {
                self.superseded_ranges.insert(component.line);
            }
            Some(known) if !is_full => {
                self.range_bytes = self.range_bytes + component.bytes() - known.bytes();
                self.superseded_ranges.insert(known.line);
                known.clone_from(component);
            }
            None if !is_full => {
                self.range_bytes += component.bytes();
                self.ranges.entry(component.text("UID")).or_default().push(component.clone());
            }
            _ => {}
        }
    }

    /// Returns whether a later revision supersedes the component with this index.
    pub fn is_superseded(&self, component: &Component, number: usize) -> bool {
        self.superseded.contains(&number) || self.superseded_ranges.contains(&component.line)
    }

    /// Returns whether the component is a `RANGE=THISANDFUTURE` override that was kept.
    pub fn has_range(&self, component: &Component) -> bool {
        component.is_range()
            && self.ranges(&component.text("UID")).iter().any(|one| one.line == component.line)
    }

    /// Returns a series' `RANGE=THISANDFUTURE` overrides.
    pub fn ranges(&self, uid: &str) -> &[Component] {
        self.ranges.get(uid).map_or(&[], Vec::as_slice)
    }

    /// Returns the context for reading an event of the file.
    pub fn context_of<'a>(&'a self, state: &'a State, component: &Component) -> EntryContext<'a> {
        let calendar = self.default_zones.get(&component.calendar);
        let calendar_number = component.calendar;
        EntryContext { calendar, calendar_number, ..self.context(state) }
    }

    /// Returns the context for reading events outside the file's calendars.
    pub fn context<'a>(&'a self, state: &'a State) -> EntryContext<'a> {
        let settings = &state.site.settings;
        EntryContext {
            zones: &self.zones,
            calendar_number: 0,
            calendar: None,
            site: &settings.site_timezone,
            now: state.clock.now(),
            limits: settings.imported_series(),
        }
    }
}

/// Keys of excluded occurrences by UID, with the SEQUENCE of their series. UIDs can be long, so
/// each UID is stored only once.
type Excluded = HashMap<String, HashMap<String, i64>>;

/// Collects the occurrences excluded by overridden series. A series excludes an occurrence after
/// moving it in an earlier revision.
fn excluded<'a>(
    excluding: &[Component],
    overridden: &HashSet<String>,
    context: impl Fn(&Component) -> EntryContext<'a>,
) -> Excluded {
    let mut excluded = Excluded::new();
    for component in excluding {
        let uid = component.text("UID");
        if !overridden.contains(&uid) {
            continue;
        }
        let keys = excluded.entry(uid).or_default();
        for key in component.excluded_keys(context(component)) {
            let sequence = keys.entry(key).or_default();
            *sequence = component.sequence().max(*sequence);
        }
    }
    excluded
}

/// Returns the last moment and the SEQUENCE of each overridden series that has an end, keyed by
/// UID.
fn ends<'a>(
    excluding: &[Component],
    overridden: &HashSet<String>,
    context: impl Fn(&Component) -> EntryContext<'a>,
) -> HashMap<String, (i64, Moment)> {
    let ends = excluding.iter().filter_map(|component| {
        let uid = Some(component.text("UID")).filter(|uid| overridden.contains(uid))?;
        Some((uid, (component.sequence(), component.last_moment(context(component))?)))
    });
    ends.collect()
}
