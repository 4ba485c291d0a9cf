//! A test data generator for cards, numbers, names and other values. It also validates numbers.
//!
//! `wire` parses requests and collects all violations, and `handlers` builds responses based on the
//! rules in [`model`]. A seed makes a response reproducible. All data is embedded in the binary, so
//! the database only stores keys, plans and saved schemas.

mod app;
mod cli;
mod config;
mod error;
mod handlers;
mod metrics;
pub mod model;
mod openapi;
mod policy;
mod routes;
mod service;
mod state;
mod store;
mod wire;

pub use cli::{CheckCommand, Cli, Subject};
pub use config::Settings;
pub use service::Generator;
pub use store::MIGRATIONS;

// Exported for the fuzz targets.
pub use wire::{
    AddressRequest, BodyRequest, BrandRequest, BusinessRequest, CardRequest, CardValidationRequest,
    CryptoRequest, CryptoValidationRequest, Form, HumanizeRequest, IbanRequest,
    IbanValidationRequest, IdentityRequest, ImeiRequest, LoremRequest, NameRequest, NumberRequest,
    PasswordRequest, PersonRequest, PhoneRequest, PhoneValidationRequest, Request, ReviewRequest,
    TransformRequest, VatRequest, WordsRequest,
};
