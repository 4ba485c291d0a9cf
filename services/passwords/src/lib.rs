//! The password range service. Clients look up how often a password was exposed, without revealing
//! the password.
//!
//! A client hashes a password and sends the first five hexadecimal digits of the hash. The service
//! returns all hashes in its corpus that begin with this prefix, each with a count. A corpus is one
//! immutable file per kind of hash, which this binary builds from lists.
//!
//! `docs/architecture.md` describes the modules. [`model`] contains the layout of a corpus,
//! rendering, compression, padding and the parsing of lists.

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
