//! Joins the pages of listings.

use super::formats::{Link, Part};
use super::intake::Intake;
use super::intake_state::forget_name;
use super::remote::Place;

impl Intake {
    /// Starts the next page of a listing.
    pub fn next_page(&mut self, place: &Place) {
        let mut place = Some(place.clone());
        let removed = self.removed.get(&self.page_key).into_iter().flatten();
        removed.for_each(|(_, prefix)| forget_name(&mut place, prefix));
        let new: Vec<u64> = self.state.present.0.difference(&self.state.partial).copied().collect();
        if let Some(listing) = self.continued.and_then(|at| self.state.abandoned.get_mut(at)) {
            listing.place.clone_from(&place);
            listing.partial.extend(&new);
            self.state.partial.extend(&new);
        }
        self.state.place = place;
        self.state.events = 0;
        self.skip = 0;
    }

    /// Ends a page. See [`Sink::page`](super::formats::Sink::page).
    pub(super) fn end_page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) {
        let (part, link) = (self.part.take(), self.link.take());
        if self.is_old() {
            return;
        }
        let target = match self.buckets.target(bucket, kind) {
            Ok(target) => target,
            // Any entries were already rejected for the same reason.
            Err(reason) => return self.state.note_incomplete(self.note_of(&reason)),
        };
        self.page_key.clone_from(&target.key);
        if self.removal_of(&target.key, "").is_some() {
            return;
        }
        let is_open = self.state.named.get(&target.id) == Some(&true);
        let end = self.state.ends.remove(&target.id);
        let is_next = |link: &Link| end.as_ref().is_some_and(|before| link.follows(before));
        let follows = is_open && link.as_ref().is_none_or(is_next);
        let part = match part {
            Some(Part::Continued) if follows => None,
            None if is_open && !follows => Some(Part::Unlinked),
            part => part,
        };
        if let Some(part) = part
            && self.state.partial.insert(target.id)
        {
            self.note_partial(part, &target.address);
        }
        self.name(target.id);
        self.state.named.insert(target.id, truncated);
        self.unsaved_ends.remove(&target.id);
        if let Some(link) = link.filter(|_| truncated) {
            let end = link.end(end.filter(|_| follows));
            let mut removed = self.removed.get(&target.key).into_iter().flatten();
            if removed.any(|(_, prefix)| end.is_below(prefix)) {
                self.unsaved_ends.insert(target.id);
            }
            self.state.ends.insert(target.id, end);
        }
    }

    /// Records why a listing doesn't cover its bucket.
    fn note_partial(&mut self, part: Part, address: &str) {
        self.add_partial(self.note_of(&format!("this listing of {address} {part}")));
    }
}
