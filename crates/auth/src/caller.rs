//! Request callers.

use std::sync::Arc;

use crate::{Key, Remaining};

/// A caller that the [`Gate`](crate::Gate) in the app data has let through.
///
/// As an extractor, it responds with 401 or 429 in the service's error format. Extracting it more
/// than once charges the request only once.
///
/// A handler's extractors run concurrently, so the client could get an error about an invalid query
/// before we have looked up its key. To avoid that, wrap the other extractors in
/// [`After`](crate::After).
#[derive(Clone, Debug)]
pub struct Caller {
    /// `None` for anonymous callers.
    pub key: Option<Arc<Key>>,
    /// Quota left, or `None` if the request was free.
    pub remaining: Option<Remaining>,
}
