//! The rules of the house (docs/architecture.md), as tests.
//!
//! Every test prints all that breaks its rule, with file, line and what to do.
#![allow(clippy::unwrap_used)] // A test that cannot go on says so by stopping.

mod circles;
mod contracts;
mod deployment;
mod documents;
mod files;
mod graph;
mod language;
mod members;
mod offence;
mod operations;
mod parse;
mod rooms;
mod source;
mod timing;
mod types;
