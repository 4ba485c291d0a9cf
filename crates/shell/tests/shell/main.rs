//! The shell around a small service, over real sockets.
#![allow(clippy::unwrap_used)] // A test that cannot go on says so by stopping.

mod echo;
mod errors;
mod layers;
mod lifecycle;
mod params;
mod transport;
