//! Country lists.

use super::reply::List;
use crate::model::country;
use crate::wire::CountryAnswer;

/// Returns the list of countries for these codes.
pub fn list(codes: impl Iterator<Item = &'static str>) -> List {
    let countries = country::named(codes).into_iter().map(CountryAnswer::from);
    List::of(&countries.collect::<Vec<_>>())
}
