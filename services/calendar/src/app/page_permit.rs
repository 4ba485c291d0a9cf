//! Memory permits of long pages: a page waits until the pages before it have been sent.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Error;
use crate::state::KIB_OF_LONG_PAGES;
use crate::store::event_index::Deadline;
use crate::wire::parameter_errors::ParameterErrors;

/// Maximum bytes of text in a page without a permit.
const SHORT: usize = 256 << 10;
/// Maximum bytes of text in any page.
const LONGEST: usize = 32 << 20;

/// The permit of a page, held until its last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct PagePermit {
    bytes: usize,
    /// `None` for short pages.
    _permit: Option<Arc<OwnedSemaphorePermit>>,
}

impl PagePermit {
    /// Waits for the permit of a page with this number of bytes of text. A page larger than the
    /// total needs all permits.
    ///
    /// # Errors
    /// The page is too long, or the deadline passed.
    pub async fn acquire(
        long_pages: &Arc<Semaphore>,
        bytes: usize,
        deadline: Deadline,
    ) -> Result<PagePermit, Error> {
        if bytes > LONGEST {
            let (mib, most) = (bytes >> 20, LONGEST >> 20);
            let text =
                format!("must be smaller: the texts of the page have {mib} MiB, over {most}");
            return Err(ParameterErrors::one("per_page", &text).into());
        }
        let kib = u32::try_from(bytes >> 10).unwrap_or(u32::MAX).min(KIB_OF_LONG_PAGES);
        let permit = Arc::clone(long_pages).acquire_many_owned(kib);
        match tokio::time::timeout_at(deadline.0.into(), permit).await {
            Ok(Ok(permit)) => Ok(PagePermit { bytes, _permit: Some(Arc::new(permit)) }),
            Ok(Err(_)) | Err(_) => Err(Error::ListTakesTooLong),
        }
    }

    /// Returns how many bytes of text the page may have.
    pub fn bytes(&self) -> usize {
        self.bytes.max(SHORT)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[tokio::test]
    async fn long_page_waits_until_earlier_pages_release_their_permits() {
        let long_pages = Arc::new(Semaphore::new(KIB_OF_LONG_PAGES as usize));
        let all = (KIB_OF_LONG_PAGES as usize) << 10;
        let permit = |bytes| {
            let soon = Deadline(Instant::now() + Duration::from_millis(20));
            PagePermit::acquire(&long_pages, bytes, soon)
        };
        let first = permit(all / 2).await.unwrap();
        let second = permit(all / 2).await.unwrap();
        assert!(matches!(permit(SHORT + 1).await, Err(Error::ListTakesTooLong)));
        let kept = first.clone();
        drop((first, second));
        assert!(permit(all).await.is_err());
        drop(kept);
        let longest = permit(LONGEST).await.unwrap();
        assert_eq!(longest.bytes(), LONGEST);
        assert!(matches!(permit(SHORT + 1).await, Err(Error::ListTakesTooLong)));
        assert!(matches!(permit(LONGEST + 1).await, Err(Error::Parameters(_))));
    }

    #[test]
    fn short_page_needs_no_permit() {
        assert_eq!(PagePermit::default().bytes(), SHORT);
    }
}
