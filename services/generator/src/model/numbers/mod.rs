//! National tax and identity numbers.
//!
//! A scheme consists of a form (a regular expression for the normalized number) and a rule. To
//! generate a number, the form is sampled and the last character is varied until the rule accepts
//! the number. To add a country, add a scheme to the file for its part of the world.

mod date;
mod form;
mod imprint;
mod normalise;
mod number;
mod outcome;
mod person;
mod person_europe;
mod person_world;
mod rules;
mod scheme;
mod schemes;
#[cfg(test)]
mod tests;
mod vat_america;
mod vat_asia_africa;
mod vat_east;
mod vat_west;

pub use imprint::mexican_digit;
pub use person::{FIRST_BIRTH, LAST_BIRTH, PlaceCode, REFERENCE_DAY, Sex, Wanted};
pub use scheme::Kind;
pub use schemes::{Schemes, Verdict, find};
