//! Converts parameters to complete requests.

use serde::de::DeserializeOwned;
use shell::Violation;
use shell::params::{Input, read_validated};
use validator::Validate;

use super::rules::RULES;
use crate::model::Seed;

/// A validated request.
pub trait Request: Sized {
    /// The name of the parameter with the number of values in a list, and its maximum for JSON.
    const QUANTITY: Option<(&'static str, usize)> = None;

    /// Parses the query, and the variable segment of the path if there is one.
    ///
    /// # Errors
    /// Returns all violations.
    fn read(query: &str, variable: &str) -> Result<Self, Vec<Violation>>;
}

/// A request that can be repeated with a seed.
pub trait Seeded {
    /// Returns the seed of the caller.
    fn seed(&self) -> Option<&Seed>;
}

/// Maximum number of values in a list in CSV or NDJSON.
pub const MOST: i32 = 1_000_000;

/// The part of a list that a client requests, and how CSV begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// The number of values to skip.
    pub offset: u64,
    /// Whether CSV begins with a byte order mark.
    pub bom: bool,
}

impl Extent {
    /// Creates an extent from validated parameters.
    pub fn new(offset: Option<i32>, bom: Option<bool>) -> Self {
        let offset = offset.and_then(|offset| offset.try_into().ok()).unwrap_or_default();
        Self { offset, bom: bom.unwrap_or_default() }
    }
}

/// A request for a list.
pub trait Series: Request + Seeded {
    /// Returns the number of values, or `None` for a single value.
    fn quantity(&self) -> Option<usize>;

    /// Returns the requested part of the list.
    fn extent(&self) -> Extent;

    /// Returns whether there are more values than a JSON list may have.
    fn is_long(&self) -> bool {
        let most = Self::QUANTITY.map(|(_, most)| most);
        self.quantity().zip(most).is_some_and(|(quantity, most)| quantity > most)
    }
}

/// Parses a request whose response is JSON. The maximum number of values is lower than for other
/// formats.
///
/// # Errors
/// Returns all violations.
pub fn read_for_json<R: Request>(query: &str, variable: &str) -> Result<R, Vec<Violation>> {
    let outcome = R::read(query, variable);
    let Some((parameter, most)) = R::QUANTITY else { return outcome };
    let input = Input::query(query);
    let sent = input.text(parameter, &RULES).unwrap_or_default();
    let is_long = sent.parse::<usize>().is_ok_and(|quantity| quantity > most);
    let mut violations = outcome.as_ref().err().cloned().unwrap_or_default();
    let known = violations.iter_mut().find(|violation| violation.field == parameter);
    let limits = [("min".into(), 1.into()), ("max".into(), most.into())].into();
    match known {
        Some(violation) if violation.code == "range" => violation.limits = limits,
        None if is_long => {
            let sent = Some(sent.into());
            violations.push(Violation { sent, limits, ..Violation::new(parameter, "range", "") });
        }
        _ => return outcome,
    }
    Err(violations)
}

/// Parses the parameters `P` and converts them to a request. The conversion can fail only if
/// validation has already failed.
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

macro_rules! series {
    ($request:ty, $quantity:expr) => {
        impl $crate::wire::request::Series for $request {
            fn quantity(&self) -> Option<usize> {
                let quantity: fn(&Self) -> Option<usize> = $quantity;
                quantity(self)
            }

            fn extent(&self) -> $crate::wire::request::Extent {
                self.extent
            }
        }
    };
}

pub(super) use {seeded, series};
