//! From parameters to a request that is complete.

use serde::de::DeserializeOwned;
use shell::Violation;
use shell::params::{Input, read};
use validator::Validate;

use super::rules::RULES;
use crate::model::Seed;

/// An operation's request, read and checked.
pub trait Request: Sized {
    /// Reads the query, and the variable part of the path where there is one.
    ///
    /// # Errors
    /// All violations.
    fn read(query: &str, variable: &str) -> Result<Self, Vec<Violation>>;
}

/// A request that a seed makes repeatable.
pub trait Seeded {
    /// The caller's seed.
    fn seed(&self) -> Option<&Seed>;
}

/// Reads the parameters `P` and makes a request of them. `of` finds a value absent only where
/// validation did not.
pub fn complete<P, R>(query: &str, of: impl FnOnce(P) -> Option<R>) -> Result<R, Vec<Violation>>
where
    P: DeserializeOwned + Validate,
{
    let parameters = read(&Input::query(query), &RULES).into_result()?;
    of(parameters).ok_or_else(Vec::new)
}

macro_rules! seeded {
    ($($request:ty)*) => {
        $(impl $crate::wire::request::Seeded for $request {
            fn seed(&self) -> Option<&$crate::model::Seed> {
                self.seed.as_ref()
            }
        })*
    };
}

pub(super) use seeded;
