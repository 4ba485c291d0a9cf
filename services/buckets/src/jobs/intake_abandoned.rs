//! Abandons listings whose host is unreachable, and continues them when the run is resumed.

use super::error::JobError;
use super::formats::Sink;
use super::intake::Intake;
use super::intake_state::{AbandonedListing, IntakeState};
use super::remote::Place;

impl Intake {
    /// Gives up on a listing because its host is unreachable. The listing continues when the run is
    /// resumed.
    pub fn abandon(&mut self, reason: &str) -> Result<(), JobError> {
        self.broken(reason.to_owned())?;
        let IntakeState { present, place, .. } = &self.state;
        let is_complete = |bucket: &u64| !self.state.stays_incomplete(*bucket);
        let listing = AbandonedListing {
            source: self.source_index,
            place: place.clone(),
            partial: present.0.iter().copied().filter(is_complete).collect(),
            note: self.note_of(reason),
        };
        self.state.abandoned.push(listing);
        Ok(())
    }

    /// Resumes a source's abandoned listing and returns the place to continue from. Until it is
    /// finished, the listing counts as incomplete. Returns `None` if there is no such listing, or
    /// if it has to start over.
    pub fn continue_abandoned(&mut self, source: usize, name: &str) -> Option<Place> {
        let at = self.state.abandoned.iter().position(|listing| listing.source == source)?;
        let listing = self.state.abandoned.get(at)?.clone();
        self.begin_source(source, name);
        self.state.present = Default::default();
        self.state.place = listing.place.clone();
        self.continued = Some(at);
        listing.place
    }

    /// Finishes a continued listing, unless its host became unreachable again.
    pub fn end_abandoned(&mut self, is_unreachable: bool) {
        let Some(at) = self.continued.take() else { return };
        let (buckets, broke_off) = std::mem::take(&mut self.state.present);
        self.state.place = None;
        self.state.events = 0;
        if is_unreachable {
            return;
        }
        let listing = self.state.abandoned.remove(at);
        self.state.tally.incomplete.retain(|note| *note != listing.note);
        if broke_off {
            self.state.leave_incomplete(&buckets, false);
        } else {
            let IntakeState { partial, abandoned, .. } = &mut self.state;
            let waits = |bucket: &u64| abandoned.iter().any(|one| one.partial.contains(bucket));
            partial.retain(|bucket| !listing.partial.contains(bucket) || waits(bucket));
        }
    }
}
