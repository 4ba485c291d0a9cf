//! Behaviour of the password range service.

mod build;
mod commands;
mod contract;
mod crash;
mod damage;
mod harness;
mod memory;
mod page;
mod range;
mod reload;
mod requests;
