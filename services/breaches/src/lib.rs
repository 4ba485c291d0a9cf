//! The breach lookup service: in which breaches does an address or a domain appear?
//!
//! Requests travel through the checks of [`caller`] in one hop to the database; what all of them
//! share, the catalogue and the opt-outs, lies in memory ([`snapshot`]) and is reloaded when the
//! version in the database changes. Loads and other long work are [`jobs`]; the operator works
//! with the [`commands`] of the same binary.

pub mod caller;
pub mod commands;
pub mod config;
pub mod contract;
pub mod error;
pub mod handlers;
pub mod jobs;
pub mod model;
pub mod paths;
pub mod reader;
pub mod routes;
pub mod service;
pub mod snapshot;
pub mod state;
pub mod store;
pub mod wire;

pub use service::Breaches;
pub use state::State;
