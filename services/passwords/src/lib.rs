//! The password range service: how often was a password exposed, without learning which.
//!
//! A client digests a password and sends the first five hexadecimal characters of the digest; the
//! service answers all digests of its corpus that begin so, each with a count. The corpus is one
//! immutable file per kind of digest, built by this same binary from lists that an operator has.
//!
//! The rooms are those of `docs/architecture.md`; [`model`] holds the layout of a corpus, rendering,
//! compression, padding and the parsing of lists.

mod app;
mod cli;
mod config;
mod error;
mod handlers;
mod jobs;
mod metrics;
pub mod model;
mod openapi;
mod routes;
mod service;
mod state;
mod store;

pub use cli::Cli;
pub use config::Settings;
pub use error::Error;
pub use handlers::kind;
pub use service::Passwords;
pub use state::{Snapshot, State};
pub use store::Corpus;
