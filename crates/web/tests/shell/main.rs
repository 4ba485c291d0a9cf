//! The shell around a small service, over real sockets.

mod echo;
mod errors;
mod layers;
mod lifecycle;
mod transport;
