#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod answer;
mod clock;
mod contract;
#[cfg(feature = "database")]
mod database;
mod folder;
mod must;
mod process;
mod program;
mod random;
mod raw;
mod server;
mod wait;

pub use answer::{Answer, Exchange};
pub use clock::clock;
pub use contract::assert_openapi_matches;
#[cfg(feature = "database")]
pub use database::Database;
pub use folder::Folder;
pub use process::{Process, Served};
pub use program::{Program, Ran};
pub use random::Random;
pub use raw::{RawAnswer, exchange};
pub use server::TestServer;
pub use wait::{until, until_blocking};
