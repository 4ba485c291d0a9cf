//! Joins the pages of listings, which can be read in any order if they are linked.

use super::formats::{Link, LoosePages, PageEnd, Part};
use super::intake::Intake;
use super::intake_state::forget_name;
use super::known_buckets::Target;
use super::remote::Place;

/// Maximum number of pages to remember that aren't joined to their neighbours yet. Every checkpoint
/// contains them.
const MOST_LOOSE: usize = 4_096;

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
        self.has_pages = true;
        if self.is_old() {
            return;
        }
        // Lists of lines that don't say whether they are complete end their pages at the very end.
        if part != Some(Part::Unended) {
            self.state.bad_end = None;
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
        let part = match (part, &link) {
            (Some(part @ (Part::Continued | Part::Unlinked)), Some(link)) => {
                self.set_apart(part, &target, link, end.as_ref().filter(|_| is_open))
            }
            (part, _) => part,
        };
        if let Some(part) = part
            && self.state.partial.insert(target.id)
        {
            self.note_partial(part, &target.address);
        }
        self.name(target.id);
        self.unsaved_ends.remove(&target.id);
        let mut is_open = truncated;
        if let Some(link) = link.filter(|_| truncated) {
            let end = link.end(end.filter(|_| follows));
            let loose = self.state.loose.get_mut(&target.id);
            if loose.is_some_and(|(_, pages)| pages.join_end(&end)) {
                is_open = false;
            } else {
                let mut removed = self.removed.get(&target.key).into_iter().flatten();
                if removed.any(|(_, prefix)| end.is_below(prefix)) {
                    self.unsaved_ends.insert(target.id);
                }
                self.state.ends.insert(target.id, end);
            }
        }
        self.state.named.insert(target.id, is_open);
        if self.state.loose.get(&target.id).is_some_and(|(_, pages)| pages.count() == 0) {
            self.state.loose.remove(&target.id);
        }
    }

    /// Remembers a page that doesn't follow the page read before it, so that both can be joined to
    /// pages that are read later. `before` is the end of the other page, if that is truncated. If
    /// the pages can't be joined, returns `part`.
    fn set_apart(
        &mut self,
        part: Part,
        target: &Target,
        link: &Link,
        before: Option<&PageEnd>,
    ) -> Option<Part> {
        let count: usize = self.state.loose.values().map(|(_, pages)| pages.count()).sum();
        let is_open = self.state.named.get(&target.id) == Some(&true);
        // The end of a page is unknown if a removal has erased it.
        if count >= MOST_LOOSE || (is_open && before.is_none()) {
            return Some(part);
        }
        let new = || (target.address.clone(), LoosePages::default());
        let (_, pages) = self.state.loose.entry(target.id).or_insert_with(new);
        before.into_iter().for_each(|end| pages.add_end(end));
        pages.join_start(link);
        None
    }

    /// Records which listings lack pages. Call this when all sources have been read.
    pub fn settle_pages(&mut self) {
        for (bucket, (address, pages)) in std::mem::take(&mut self.state.loose) {
            if pages.has_ends() {
                self.state.named.insert(bucket, true);
            }
            if pages.has_starts() && self.state.partial.insert(bucket) {
                self.add_partial(format!("a listing of {address} {}", Part::Continued));
            }
        }
    }

    /// Records why a listing doesn't cover its bucket.
    fn note_partial(&mut self, part: Part, address: &str) {
        self.add_partial(self.note_of(&format!("this listing of {address} {part}")));
    }
}
