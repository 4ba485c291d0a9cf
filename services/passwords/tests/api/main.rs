//! Behaviour of the password range service.

mod harness;
mod range;
mod requests;
