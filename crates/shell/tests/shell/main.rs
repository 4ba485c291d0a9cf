//! The shell around a small service, over real sockets.
#![allow(clippy::unwrap_used)] // A test that cannot go on says so by stopping.

mod connections;
mod echo;
mod errors;
mod front_ends;
mod http2;
mod layers;
mod lifecycle;
mod local_certificates;
mod params;
mod routes;
mod smuggling;
mod transport;
