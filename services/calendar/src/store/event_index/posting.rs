//! The events that contain a word.

use super::event_set::EventSet;

/// Minimum number of ids for a posting to be stored as bits.
const MANY: usize = 1024;

/// The events that contain a word: a list of ids, or a bit set if that is smaller.
#[derive(Debug)]
pub enum Posting {
    /// In ascending order.
    List(Vec<u32>),
    /// With the number of ids.
    Bits(EventSet, usize),
}

impl Default for Posting {
    fn default() -> Posting {
        Posting::List(Vec::new())
    }
}

impl Posting {
    /// Adds an event.
    pub fn insert(&mut self, id: u32) {
        match self {
            Posting::List(ids) => {
                match ids.last() {
                    Some(last) if *last >= id => {
                        if let Err(at) = ids.binary_search(&id) {
                            ids.insert(at, id);
                        }
                    }
                    _ => ids.push(id),
                }
                let end = ids.last().map_or(0, |last| *last as usize);
                // A list takes 32 bits per id, a bit set one bit per possible id.
                if ids.len() >= MANY && ids.len() * 32 > end {
                    *self = Posting::Bits(ids.iter().copied().collect(), ids.len());
                }
            }
            Posting::Bits(bits, count) => {
                *count += usize::from(!bits.contains(id));
                bits.insert(id);
            }
        }
    }

    /// Removes an event.
    pub fn remove(&mut self, id: u32) {
        match self {
            Posting::List(ids) => {
                if let Ok(at) = ids.binary_search(&id) {
                    ids.remove(at);
                }
            }
            Posting::Bits(bits, count) => {
                *count -= usize::from(bits.contains(id));
                bits.remove(id);
            }
        }
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        match self {
            Posting::List(ids) => ids.len(),
            Posting::Bits(_, count) => *count,
        }
    }

    /// Adds the events to a set.
    pub fn add_to(&self, set: &mut EventSet) {
        match self {
            Posting::List(ids) => ids.iter().for_each(|id| set.insert(*id)),
            Posting::Bits(bits, _) => set.add(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posting_keeps_its_ids_when_it_becomes_a_bit_set() {
        let mut posting = Posting::default();
        for id in (0..6000).rev() {
            posting.insert(id * 3);
            posting.insert(id * 3);
        }
        assert!(matches!(posting, Posting::Bits(..)));
        posting.remove(3);
        posting.remove(4);
        assert_eq!(posting.len(), 5999);
        let mut set = EventSet::default();
        posting.add_to(&mut set);
        assert!(set.contains(0) && !set.contains(3) && set.contains(17_997));
        assert_eq!(set.len(), 5999);
    }
}
