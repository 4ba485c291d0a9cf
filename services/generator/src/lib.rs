//! The test-data generator: makes cards, numbers and names, and checks numbers.
//!
//! A request is read by [`wire`] with all its faults at once, drawn by [`model`] from a seed, and
//! answered by [`handlers`]. The data lie in the binary; the database holds only keys and plans.

pub mod access;
pub mod commands;
pub mod config;
pub mod error;
pub mod handlers;
pub mod model;
pub mod routes;
pub mod service;
pub mod state;
pub mod wire;
