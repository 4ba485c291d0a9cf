//! Whole persons, whose parts agree with each other.

mod email;
mod latin;
mod made;
mod national;

pub use made::{Maker, Person};
