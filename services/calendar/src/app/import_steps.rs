//! Prepares import steps before the transaction that writes them.

use std::collections::{HashSet, VecDeque};
use std::io::BufRead;
use std::sync::Arc;
use std::time::Instant;

use super::import_overview::Overview;
use super::import_progress::{BATCH, Pass, Step, TIME_SLICE, Work};
use crate::error::Error;
use crate::ical::{Component, ComponentKind, Entry, Reader};
use crate::state::State;

/// Maximum total size of prepared components, in bytes. The last one can exceed it.
const READY_BYTES: usize = 4 << 20;

/// State while reading a file.
#[derive(Default)]
pub struct Reading {
    /// Number of components read so far in this pass.
    read: usize,
    /// UIDs of series to which the `RANGE=THISANDFUTURE` overrides have been applied.
    with_ranges: HashSet<String>,
}

impl Reading {
    /// Prepares the next steps of a pass, up to the number that fits into one transaction.
    pub fn next_steps(
        &mut self,
        overview: &Overview,
        state: &State,
        reader: &mut Reader<impl BufRead>,
        (pass, deadline): (Pass, Option<Instant>),
    ) -> Result<VecDeque<Arc<Step>>, Error> {
        let (mut ready, mut events, mut bytes) = (VecDeque::new(), 0, 0);
        let began = Instant::now();
        while events < BATCH && bytes < READY_BYTES && began.elapsed() < TIME_SLICE {
            let read =
                reader.next_component().map_err(|error| Error::Internal(error.to_string()))?;
            let Some(mut component) = read else {
                if self.read != overview.components {
                    let text = "the file changed during the import";
                    return Err(Error::Internal(text.to_owned()));
                }
                self.read = 0;
                ready.push_back(Arc::new(Step::End));
                break;
            };
            // After the deadline, the rest of the file is only reported as skipped, so don't expand
            // it.
            let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let work = self.work(overview, state, &mut component, (pass, is_late));
            self.read += 1;
            bytes += component.bytes();
            if let Work::Entry { entry, .. } = &work {
                events += entry.occurrences.len();
            }
            ready.push_back(Arc::new(Step::Component(component, work)));
        }
        Ok(ready)
    }

    /// Decides how to handle a component.
    fn work(
        &mut self,
        overview: &Overview,
        state: &State,
        component: &mut Component,
        (pass, is_late): (Pass, bool),
    ) -> Work {
        let replaces = component.find("RECURRENCE-ID").is_some();
        let is_wanted =
            component.kind == ComponentKind::Event && replaces == (pass == Pass::Replacements);
        let is_superseded = overview.is_superseded(component, self.read);
        let is_repeated = overview.repeated.contains(&self.read);
        if is_repeated && component.is_series() {
            component.tell_apart();
        }
        let is_applied =
            overview.has_range(component) && self.with_ranges.contains(&component.text("UID"));
        if !is_wanted || is_applied {
            return Work::Nothing;
        }
        if is_late {
            return Work::Superseded;
        }
        match Entry::read(component, overview.context_of(state, component)) {
            Ok(_) if is_superseded => Work::Superseded,
            Err(_) if is_superseded && component.is_range() => Work::Superseded,
            // The missing end of the file might have contained overrides.
            Ok(entry) if entry.is_series && overview.cut.is_some() => {
                Work::Faulty("it repeats, and the file is truncated".to_owned())
            }
            Ok(mut entry) => {
                let ranges = overview.ranges(&entry.uid);
                if entry.is_series && !ranges.is_empty() {
                    // One rule can't describe such a series, so don't store it.
                    entry.repetition = None;
                    entry = entry.with_ranges(ranges, |one| overview.context_of(state, one));
                    self.with_ranges.insert(entry.uid.clone());
                }
                Work::Entry { entry: Box::new(entry), is_repeated }
            }
            Err(message) => Work::Faulty(message),
        }
    }
}
