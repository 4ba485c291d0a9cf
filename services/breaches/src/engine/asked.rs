//! Questions to somebody outside.

use futures_util::future::BoxFuture;

/// The outcome of a question to somebody outside.
pub type Asked<'a, T, E> = BoxFuture<'a, Result<T, E>>;
