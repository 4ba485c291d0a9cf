//! The caller of a request.

use std::sync::Arc;

use crate::{Key, Remaining};

/// The caller of a request that passed the [`Gate`](crate::Gate) in the app data.
///
/// As an extractor it returns 401 and 429 in the error format of the service. A request is charged
/// once, even if its caller is extracted several times.
///
/// The extractors of a handler run concurrently: an invalid query would be answered while the key
/// is looked up. Wrap the other extractors in [`After`](crate::After).
#[derive(Clone, Debug)]
pub struct Caller {
    /// The key; `None` for an anonymous caller.
    pub key: Option<Arc<Key>>,
    /// The rest of the quota; `None` if the request was free.
    pub remaining: Option<Remaining>,
}
