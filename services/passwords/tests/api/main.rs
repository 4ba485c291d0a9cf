//! Behaviour of the password range service.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod build;
mod commands;
mod contract;
mod crash;
mod damage;
mod harness;
mod log;
mod memory;
mod page;
mod range;
mod reload;
mod requests;
