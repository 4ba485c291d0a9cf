//! Events calendar: events, venues, organizers, categories and tags over HTTP.
//!
//! A request travels from the middleware of `handlers::edge` (alias prefix, OPTIONS, method
//! override, CORS) to a handler, whose `handlers::Input` holds who asks and with which
//! parameters. The handler calls one use case of `app`, which does its work in one visit to the
//! database and renders the answer. Rules are in [`model`], names of parameters and answers in
//! [`wire`], queries in [`store`].

mod app;
pub mod cli;
pub mod config;
mod error;
mod handlers;
pub mod jobs;
pub mod model;
mod openapi;
mod policy;
mod routes;
pub mod service;
pub mod state;
pub mod store;
pub mod wire;
