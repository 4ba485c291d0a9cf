//! Room for the pages that are in memory at a time: the next one waits until those before it are
//! written.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::error::EngineError;

/// Bytes that a row takes beside its path.
const ROW: usize = 128;
/// The pause between two looks at a search that waits for room, whose client may have left.
const LOOK: Duration = Duration::from_millis(50);

/// Bytes of rows that all pages may have in memory at a time.
#[derive(Debug)]
pub struct PageRoom {
    most: usize,
    taken: Mutex<usize>,
    freed: Condvar,
}

impl PageRoom {
    /// Room for so many bytes of rows, or for one page that is longer.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default(), freed: Condvar::new() })
    }

    /// The place of a page, which takes no room yet.
    pub fn place(self: &Arc<Self>) -> Arc<PagePlace> {
        Arc::new(PagePlace { room: Arc::clone(self), bytes: Mutex::default() })
    }

    fn taken(&self) -> MutexGuard<'_, usize> {
        self.taken.lock()
    }
}

/// The room of one page, until it is dropped.
#[derive(Debug)]
pub struct PagePlace {
    room: Arc<PageRoom>,
    bytes: Mutex<usize>,
}

impl PagePlace {
    /// Waits for room for rows with paths of so many bytes, in place of what the page had before;
    /// `check` fails once the search has to stop.
    ///
    /// # Errors
    /// Those of `check`.
    pub fn take(
        &self,
        rows: usize,
        paths: usize,
        check: impl Fn() -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let wanted = rows * ROW + paths;
        let mut own = self.bytes.lock();
        let mut taken = self.room.taken();
        *taken -= std::mem::take(&mut *own);
        while wanted > 0 && *taken > 0 && *taken + wanted > self.room.most {
            self.room.freed.wait_for(&mut taken, LOOK);
            check()?;
        }
        *taken += wanted;
        *own = wanted;
        Ok(())
    }
}

impl Drop for PagePlace {
    fn drop(&mut self) {
        let own = *self.bytes.get_mut();
        *self.room.taken() -= own;
        self.room.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped() -> Result<(), EngineError> {
        Err(EngineError::Stopped)
    }

    #[test]
    fn a_page_waits_for_those_before_it() {
        let room = PageRoom::new(1_000);
        let (first, second) = (room.place(), room.place());
        first.take(1, 600, stopped).unwrap();
        assert!(second.take(1, 600, stopped).is_err());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| second.take(1, 600, || Ok(())));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            drop(first);
            waiting.join().unwrap().unwrap();
        });
        drop(second);
        assert_eq!(*room.taken(), 0);
    }

    #[test]
    fn a_page_that_is_read_again_does_not_wait_for_itself() {
        let room = PageRoom::new(1_000);
        let place = room.place();
        place.take(1, 800, stopped).unwrap();
        place.take(1, 800, stopped).unwrap();
        drop(place);
        assert_eq!(*room.taken(), 0);
    }

    #[test]
    fn a_page_longer_than_the_room_is_made_when_it_is_alone() {
        let room = PageRoom::new(1_000);
        let (long, short) = (room.place(), room.place());
        long.take(10, 5_000, stopped).unwrap();
        assert!(short.take(1, 1, stopped).is_err());
        drop(long);
        short.take(1, 1, stopped).unwrap();
    }
}
