//! The test-data generator: makes cards, numbers and names, and checks numbers.
//!
//! A request is read with all its violations at once (`wire`), answered by `handlers` from the rules
//! in [`model`], and made repeatable by a seed. The data are embedded in the binary; the database
//! holds only keys and plans.

mod cli;
mod config;
mod error;
mod handlers;
pub mod model;
mod openapi;
mod policy;
mod routes;
mod service;
mod state;
mod wire;

pub use cli::Cli;
pub use config::Settings;
pub use service::Generator;
