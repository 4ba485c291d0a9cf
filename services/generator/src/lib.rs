//! A generator for test data: generates cards, numbers, names and other values, and checks numbers.
//!
//! `wire` parses a request and collects all its violations, `handlers` builds the response with the
//! rules in [`model`], and a seed makes the response repeatable. The data are embedded in the
//! binary; the database contains only keys, plans and saved schemas.

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
