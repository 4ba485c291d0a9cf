//! Who calls.

use std::sync::Arc;

use crate::{Key, Remaining};

/// The caller of a request that passed the [`Gate`](crate::Gate) in the app data.
///
/// As an extractor it answers 401 and 429 in the error format of the service. A request is charged
/// once, however often its caller is asked for.
///
/// The extractors of a handler run side by side: while the key is looked up, a faulty query would
/// be answered first. Wrap what must come later in [`After`](crate::After).
#[derive(Clone, Debug)]
pub struct Caller {
    /// The key; none for an anonymous caller.
    pub key: Option<Arc<Key>>,
    /// What is left of the quota; none where the request cost nothing.
    pub remaining: Option<Remaining>,
}
