//! The password range service. Clients look up how many times a password was exposed, without
//! revealing the password.
//!
//! A client hashes a password and sends the first five hex digits of the hash. The service returns
//! every hash in its corpus that starts with this prefix, along with a count. Each kind of hash has
//! a corpus, which is an immutable file that this binary builds from lists.
//!
//! See `docs/architecture.md` for an overview of the modules. [`model`] contains the corpus layout,
//! rendering, compression, padding and list parsing.

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
