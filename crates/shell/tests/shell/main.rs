//! Tests of the shell with a small service over real sockets.
#![allow(clippy::unwrap_used)] // A failed `unwrap` fails the test.

mod connections;
mod echo;
mod errors;
mod expectation;
mod front_ends;
mod http2;
mod layers;
mod lifecycle;
mod local_certificates;
mod params;
mod routes;
mod smuggling;
mod transport;
