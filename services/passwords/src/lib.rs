//! The password range service: how often was a password exposed, without being told it.
//!
//! A client digests a password and sends the first five hexadecimal characters of the digest; the
//! service answers all digests of its corpus that begin so, each with a count. The corpus is one
//! immutable file per kind of digest, built by this same binary from lists that an operator has.
//!
//! - [`model`]: layout of a corpus, rendering, compression, padding, parsing of lists.
//! - [`store`]: corpus files, their folders, what is in use.
//! - [`jobs`]: building, merging, verifying and the other commands; reload.
//! - [`handlers`]: the requests.

pub mod config;
pub mod error;
pub mod handlers;
pub mod jobs;
pub mod model;
pub mod routes;
pub mod state;
pub mod store;

pub use state::PasswordRanges;
