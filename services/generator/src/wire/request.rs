//! Converts parameters to a complete request.

use serde::de::DeserializeOwned;
use shell::Violation;
use shell::params::{Input, read_validated};
use validator::Validate;

use super::rules::RULES;
use crate::model::Seed;

/// A validated request.
pub trait Request: Sized {
    /// Parses the query, and the variable part of the path if there is one.
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

/// Parses the parameters `P` and converts them to a request. The conversion fails only if
/// validation already failed.
pub fn complete<P, R>(query: &str, of: impl FnOnce(P) -> Option<R>) -> Result<R, Vec<Violation>>
where
    P: DeserializeOwned + Validate,
{
    let parameters = read_validated(&Input::query(query), &RULES).into_result()?;
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
