//! Requests to real peers on the loopback interface.

#![allow(clippy::unwrap_used)] // A test that meets an error has failed.

mod delivery;
mod dns;
mod fetch;
mod webhooks;
