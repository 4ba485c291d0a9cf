//! Searches an index of files in open cloud-storage buckets.
//!
//! Over HTTP the service only reads: files by words or regular expressions, buckets, statistics.
//! Loading, removing and keys are the operator's commands. File rows live in a file index
//! ([`engine`]); all the rest is SQL ([`store`]).

pub mod catalog;
pub mod cli;
pub mod config;
pub mod engine;
pub mod error;
pub mod handlers;
pub mod jobs;
pub mod metrics;
pub mod model;
pub mod routes;
pub mod service;
pub mod state;
pub mod store;
pub mod wire;

pub use service::Buckets;
pub use state::State;
