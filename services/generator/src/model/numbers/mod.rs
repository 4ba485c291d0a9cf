//! Tax numbers of businesses and numbers of persons, by country.
//!
//! A scheme is a form (a small regular expression over the normalised number) and a rule. The form
//! also makes numbers: it is sampled, and its last character is tried until the rule agrees. To add a country, add a scheme to the
//! file of its part of the world.

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
pub use person::{FIRST_BIRTH, REFERENCE_DAY, Sex, Wanted};
pub use scheme::Kind;
pub use schemes::{Schemes, Verdict, find};
