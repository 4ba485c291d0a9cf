//! The actix shell that every service of Quintet runs in.
//!
//! A service implements [`Service`]: its routes, its state, its error format. The shell adds what
//! all of them need alike, once: listeners and TLS, the 301 to HTTPS, health, metrics, access log,
//! request ids, panics turned into answers, `HEAD`, 404 and 405 in the service's own body format,
//! the OpenAPI document with its page, and the common part of the command line.
//!
//! How a request travels (see [`app`] for the order in code):
//!
//! 1. health paths are answered, whatever the transport;
//! 2. plain HTTP gets its 301 where the TLS mode asks for one;
//! 3. the service's own middleware, [`Service::around`];
//! 4. CORS and preflight, `HEAD` as `GET`, the path rule, compression;
//! 5. routing, extractors, the handler.
//!
//! This crate knows neither databases nor keys: those plug in through [`Service::ready`],
//! [`Service::state`] and [`Fault`].
#![warn(missing_docs)]

pub mod app;
mod body;
pub mod cli;
mod compression;
mod conditional;
mod connection;
mod cors;
mod edge;
mod fault;
mod health;
mod logs;
pub mod media;
pub mod metrics;
mod openapi;
pub mod pages;
mod pairs;
pub mod params;
mod rate_limit;
mod redact;
mod request_id;
mod routes;
mod server;
mod service;
mod settings;
mod shell;
mod tls;

pub use body::read_body;
pub use cli::{Cli, CommonCommand, main};
pub use conditional::{EntityTag, Validators, http_date, is_known, may_change, parse_http_date};
pub use cors::{CorsRule, Origin};
pub use edge::{base_url, client_ip, is_https};
pub use fault::{Credentials, ErrorFormat, Fault, RequestInfo, Violation};
pub use openapi::{document, openapi};
pub use pairs::Pairs;
pub use params::{Form, Json, Path, Query};
pub use rate_limit::RateLimit;
pub use redact::redact_query;
pub use request_id::{RequestId, request_id};
pub use routes::{Operation, Operations, PathRules, Routes, TrailingSlash, operations};
pub use server::{Running, Server, serve};
pub use service::{ErrorBody, Next, Service, ServiceInfo};
pub use settings::{LogFormat, ShellSettings, Switch, TlsMode};
pub use shell::Shell;
