//! The house rules of the repository, as tests.
#![allow(clippy::unwrap_used)] // A test that cannot go on says so by stopping.

mod contracts;
mod deployment;
mod layers;
