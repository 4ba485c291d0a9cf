//! Field types. The comments list the members of each type, with defaults in parentheses.

pub(super) mod cards;
pub(super) mod choice;
mod class_costs;
pub(super) mod derived;
pub(super) mod goods;
pub(super) mod made;
pub(super) mod network;
pub(super) mod numbers;
pub(super) mod pattern;
pub(super) mod people;
pub(super) mod times;
