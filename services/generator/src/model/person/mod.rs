//! Generates people with consistent data.

mod age;
mod email;
mod made;
mod national;
mod place;
mod work;

pub use age::{OLDEST, possible_days, range};
pub use made::{Limits, Maker, Person};
pub use work::Employer;
