//! The house rules of the repository, as tests.

mod layers;
