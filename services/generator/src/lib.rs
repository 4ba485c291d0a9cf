//! The test-data generator: generates cards, numbers and names, and checks numbers.
//!
//! A request is read with all its violations at once (`wire`), answered by `handlers` from the
//! rules in [`model`], and made repeatable by a seed. The data are embedded in the binary; the
//! database contains only keys, plans and saved schemas.

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

// For fuzz targets.
pub use wire::{
    AddressRequest, BodyRequest, BrandRequest, BusinessRequest, CardRequest, CardValidationRequest,
    CryptoRequest, CryptoValidationRequest, Form, HumanizeRequest, IbanRequest,
    IbanValidationRequest, IdentityRequest, ImeiRequest, LoremRequest, NameRequest, NumberRequest,
    PasswordRequest, PersonRequest, PhoneRequest, PhoneValidationRequest, Request, ReviewRequest,
    TransformRequest, VatRequest, WordsRequest,
};
