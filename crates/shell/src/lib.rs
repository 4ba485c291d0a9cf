#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod app;
mod body;
mod cli;
mod compression;
mod conditional;
mod connection;
mod cors;
mod docs;
mod edge;
mod fault;
mod health;
mod info;
mod logs;
pub mod media;
pub mod metrics;
mod openapi;
mod packing;
pub mod pages;
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

pub use app::is_head;
pub use body::read_body;
pub use cli::{Cli, CommonCommand, defaults, main, parse};
pub use conditional::{EntityTag, Validators, http_date, is_known, may_change, parse_http_date};
pub use cors::CorsRule;
pub use edge::{base_url, client_ip, is_https};
pub use fault::{Credentials, ErrorFormat, Fault, RequestInfo, Violation};
pub use info::{ErrorBody, ServiceInfo, TlsMode};
pub use openapi::{document, openapi};
pub use params::{Form, Json, Path, Query};
pub use rate_limit::RateLimit;
pub use request_id::{RequestId, request_id};
pub use routes::{Operation, Operations, PathRules, Routes, TrailingSlash, operations};
pub use server::{Running, Server, serve};
pub use service::{Next, Service};
pub use settings::{LogFormat, ShellSettings, Switch};
pub use shell::Shell;
