//! The events that contain a word.

use roaring::RoaringBitmap;

/// Minimum number of events before a posting can become a bitmap.
const MANY: usize = 1024;

/// Minimum average number of events per bitmap container. Below this, a list of positions is
/// smaller.
const DENSE: usize = 32;

/// The events that contain a word, stored as a list of positions or as a bitmap, whichever is
/// smaller.
#[derive(Debug)]
pub enum Posting {
    /// Event positions in ascending order.
    List(Vec<u32>),
    Bitmap(RoaringBitmap),
}

impl Default for Posting {
    fn default() -> Posting {
        Posting::List(Vec::new())
    }
}

impl Posting {
    pub fn insert(&mut self, at: u32) {
        match self {
            Posting::List(events) => {
                match events.last() {
                    Some(last) if *last == at => return,
                    Some(last) if *last > at => {
                        if let Err(place) = events.binary_search(&at) {
                            events.insert(place, at);
                        }
                    }
                    _ => events.push(at),
                }
                let containers = events.last().map_or(0, |last| *last as usize >> 16) + 1;
                if events.len() >= MANY && events.len() >= containers * DENSE {
                    *self = Posting::Bitmap(events.iter().copied().collect());
                }
            }
            Posting::Bitmap(events) => {
                events.insert(at);
            }
        }
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Posting::List(events) => events.capacity() * size_of::<u32>(),
            Posting::Bitmap(events) => events.serialized_size(),
        }
    }

    pub fn remove(&mut self, at: u32) {
        match self {
            Posting::List(events) => {
                if let Ok(place) = events.binary_search(&at) {
                    events.remove(place);
                }
            }
            Posting::Bitmap(events) => {
                events.remove(at);
            }
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Posting::List(events) => events.len(),
            Posting::Bitmap(events) => usize::try_from(events.len()).unwrap_or(usize::MAX),
        }
    }

    /// Returns `true` if no event contains the word.
    pub fn is_empty(&self) -> bool {
        match self {
            Posting::List(events) => events.is_empty(),
            Posting::Bitmap(events) => events.is_empty(),
        }
    }

    /// Adds the events to a set.
    pub fn add_to(&self, set: &mut RoaringBitmap) {
        match self {
            Posting::List(events) => set.extend(events.iter().copied()),
            Posting::Bitmap(events) => *set |= events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posting_keeps_its_events_when_it_becomes_a_bitmap() {
        let mut posting = Posting::default();
        for at in (0..6000).rev() {
            posting.insert(at * 3);
            posting.insert(at * 3);
        }
        assert!(matches!(posting, Posting::Bitmap(..)));
        posting.remove(3);
        posting.remove(4);
        assert_eq!(posting.len(), 5999);
        let mut set = RoaringBitmap::default();
        posting.add_to(&mut set);
        assert!(set.contains(0) && !set.contains(3) && set.contains(17_997));
        assert_eq!(set.len(), 5999);
    }
}
