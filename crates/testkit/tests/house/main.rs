//! The rules of `docs/architecture.md`, as tests.
//!
//! Every test prints all violations of its rule, with file, line and fix.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

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
