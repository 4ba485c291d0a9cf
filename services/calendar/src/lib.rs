//! Events calendar: events, venues, organizers, categories and tags over HTTP.
//!
//! A request travels from [`service`] (alias prefix, OPTIONS, method override, CORS) over
//! [`request`] (who asks, with which parameters) to a handler, which does its work in one visit to
//! the database ([`state`]) and answers by [`reply`]. Images that a write names by address are
//! fetched before it ([`fetch`]) and lie in a folder ([`media`]). Rules lie in [`model`], names of parameters
//! and answers in [`wire`], queries in [`store`].

mod access;
mod command;
pub mod config;
pub mod error;
mod facts;
pub mod fetch;
pub mod handlers;
pub mod jobs;
pub mod media;
pub mod model;
mod reply;
pub mod request;
mod routes;
pub mod service;
pub mod state;
pub mod store;
pub mod wire;
