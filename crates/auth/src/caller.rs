//! An extractor for the caller of a request.

use std::sync::Arc;

use crate::{Key, Remaining};

/// A caller admitted by the [`Gate`](crate::Gate) in the app data.
///
/// As an extractor, it responds with 401 or 429 in the service's error format. A request is only
/// charged once, no matter how often its caller is extracted.
///
/// Since a handler's extractors run concurrently, a client could get an error about an invalid
/// query before its key has been looked up. To prevent this, wrap the other extractors in
/// [`After`](crate::After).
#[derive(Clone, Debug)]
pub struct Caller {
    /// `None` for anonymous callers.
    pub key: Option<Arc<Key>>,
    /// The quota left, or `None` if the request was free.
    pub remaining: Option<Remaining>,
}
