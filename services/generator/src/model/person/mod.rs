//! Persons with consistent data.

mod age;
mod email;
mod made;
mod national;
mod place;

pub use age::{OLDEST, possible_days, range};
pub use made::{Limits, Maker, Person};
