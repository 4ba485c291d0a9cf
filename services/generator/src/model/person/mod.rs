//! Persons with consistent data.

mod email;
mod latin;
mod made;
mod national;

pub use made::{Maker, Person};
