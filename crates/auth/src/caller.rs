//! The caller of a request.

use std::sync::Arc;

use crate::{Key, Remaining};

/// The caller of a request, after the [`Gate`](crate::Gate) in the app data has admitted it.
///
/// As an extractor, it responds with 401 or 429 in the error format of the service. A request is
/// charged once, even if its caller is extracted several times.
///
/// The extractors of a handler run concurrently, so an invalid query could be reported while the
/// key is still being looked up. Wrap the other extractors in [`After`](crate::After).
#[derive(Clone, Debug)]
pub struct Caller {
    /// The API key. `None` for an anonymous caller.
    pub key: Option<Arc<Key>>,
    /// The remaining quota. `None` if the request was free.
    pub remaining: Option<Remaining>,
}
