//! Persons with consistent data.

mod email;
mod made;
mod national;

pub use made::{Maker, Person};
