//! Prepares the import of an entry before its first event is written.

use std::collections::HashSet;

use database::Db;

use super::import_moves;
use super::import_overrides::{known_parent, later_overrides};
use super::import_progress::EntryProgress;
use super::import_series;
use super::imports::Import;
use super::own_revisions::OwnRevision;
use super::subscribed_series::{ENDED, ended_at, goes_beyond};
use crate::error::Error;
use crate::ical::{Component, Entry};
use crate::model::revision::Revision;
use crate::state::State;
use crate::store::events;

impl Import {
    /// Reports an entry's warnings, stores its rule, and reads what its events depend on.
    pub(super) fn begin_entry(
        &mut self,
        state: &State,
        db: &mut Db,
        (component, entry): (&Component, &Entry),
        revision: Option<Revision>,
    ) -> Result<EntryProgress, Error> {
        for warning in &entry.warnings {
            self.so_far.warn(component, warning.clone());
        }
        if !self.is_author {
            let now = state.clock.unix();
            let listed = &self.overview.listed;
            import_moves::rename(db, (entry, listed), self.subscriber.as_mut(), now)?;
        }
        let parent = known_parent(db, entry, (&self.series, &self.so_far.parents))?;
        let is_withdrawn = entry.is_cancelled && entry.replaces.is_none();
        // The rule's first event might be missing, because an earlier file excluded its date.
        let is_single = entry.replaces.is_none() && !entry.is_series;
        let has_ended = is_single
            && !entry.has_unknown_occurrences
            && !self.is_partial()
            && import_series::forget(db, entry)?;
        let repeated = is_withdrawn || has_ended || (entry.is_series && parent.is_some());
        let in_file = (&self.overview.replaced, self.subscriber.is_some());
        let overridden = later_overrides(db, (entry, revision), in_file)?;
        let by_author = (entry, self.is_author);
        let own_revision = OwnRevision::of(db, by_author, &mut self.sequences)?;
        if self.is_author && import_series::has_other_rule(db, entry)? {
            self.so_far.warn(component, import_series::OTHER_RULE.to_owned());
        }
        let origin = (self.own(), self.is_partial(), self.subscriber.as_ref());
        let has_new = match &entry.replaces {
            Some(name) => events::find_by_external_id(db, name)?.is_none(),
            None => entry.is_series,
        };
        let ended_at = match &self.subscriber {
            Some(one) if has_new && one.has_removed() => ended_at(db, one.id(), &entry.uid)?,
            _ => None,
        };
        let ends = ended_at.as_deref();
        let dates = (entry, ends, &self.overview.withdrawn);
        let series = import_series::of_entry(state, db, dates, origin)?;
        let known = series.filter(|one| has_new && !one.is_new).map(|one| one.id);
        let edits = self.edits.of(db, known, entry.replaces.is_some())?;
        if ends.is_some_and(|last| goes_beyond(entry, last)) {
            self.so_far.warn(component, ENDED.to_owned());
        }
        Ok(EntryProgress {
            kept: HashSet::new(),
            parent,
            repeated,
            overridden,
            series,
            edits,
            ended_at,
            own_revision,
            is_reported: false,
        })
    }
}
