//! Converts parameters to validated requests.

use serde::de::DeserializeOwned;
use shell::Violation;
use shell::params::{Input, read_validated};
use validator::Validate;

use super::rules::RULES;
use crate::model::Seed;

/// A validated request.
pub trait Request: Sized {
    /// The parameter for the number of values in a list, and its maximum for JSON.
    const QUANTITY: Option<(&'static str, usize)> = None;

    /// Parses the query and, if the path has one, the variable path segment.
    ///
    /// # Errors
    /// Returns all violations.
    fn read(query: &str, variable: &str) -> Result<Self, Vec<Violation>>;
}

/// A request that can be made reproducible with a seed.
pub trait Seeded {
    /// Returns the caller's seed.
    fn seed(&self) -> Option<&Seed>;
}

/// Maximum number of values in a CSV or NDJSON list.
pub const MOST: i32 = 1_000_000;

/// The requested slice of a list, and whether CSV has a byte order mark.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// Number of values to skip.
    pub offset: u64,
    /// Whether CSV starts with a byte order mark.
    pub bom: bool,
}

impl Extent {
    /// Creates an extent from validated parameters.
    pub fn new(offset: Option<i32>, bom: Option<bool>) -> Self {
        let offset = offset.and_then(|offset| offset.try_into().ok()).unwrap_or_default();
        Self { offset, bom: bom.unwrap_or_default() }
    }
}

/// A request that can return a list.
pub trait Series: Request + Seeded {
    /// Returns the number of values in the list, or `None` for a single value outside a list.
    fn quantity(&self) -> Option<usize>;

    /// Returns the slice of the list to send.
    fn extent(&self) -> Extent;

    /// Returns whether there are too many values for a JSON list.
    fn is_long(&self) -> bool {
        let most = Self::QUANTITY.map(|(_, most)| most);
        self.quantity().zip(most).is_some_and(|(quantity, most)| quantity > most)
    }
}

/// Parses a request for a JSON response. JSON lists have a lower maximum length than other formats.
///
/// # Errors
/// Returns all violations.
pub fn read_for_json<R: Request>(query: &str, variable: &str) -> Result<R, Vec<Violation>> {
    let outcome = R::read(query, variable);
    let Some((parameter, most)) = R::QUANTITY else { return outcome };
    // Most requests need not be parsed again.
    if outcome.is_ok() && !contains_number_above(query, most) {
        return outcome;
    }
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

/// Returns whether a query might contain a number above `most`.
fn contains_number_above(query: &str, most: usize) -> bool {
    let fewest_digits = most.checked_ilog10().unwrap_or_default() as usize + 1;
    let is_long = |digits: &[u8]| digits.len() >= fewest_digits;
    query.contains('%') || query.as_bytes().split(|byte| !byte.is_ascii_digit()).any(is_long)
}

/// Parses the parameters `P` and converts them to a request. The conversion may only fail if
/// validation has already failed.
pub fn complete<P, R>(query: &str, make: impl FnOnce(P) -> Option<R>) -> Result<R, Vec<Violation>>
where
    P: DeserializeOwned + Validate,
{
    let parameters = read_validated(&Input::query(query), &RULES).into_result()?;
    make(parameters).ok_or_else(Vec::new)
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

#[cfg(test)]
mod tests {
    use super::contains_number_above;

    #[test]
    fn no_spelling_hides_a_number_above_the_limit() {
        for query in ["a=1&quantity=1001", "quantity=%31001", "quantity=0001001&b"] {
            assert!(contains_number_above(query, 1_000), "{query}");
        }
        for query in ["", "quantity=999", "quantity=10&seed=abc123"] {
            assert!(!contains_number_above(query, 1_000), "{query}");
        }
    }
}
