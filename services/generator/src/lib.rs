//! The test-data generator: makes cards, numbers, names and texts, and checks numbers.

pub mod model;
