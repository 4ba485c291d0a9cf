//! The parameter of operations that make one value.

use serde::Deserialize;
use shell::Violation;
use utoipa::IntoParams;
use validator::Validate;

use super::request::{Request, complete, seeded};
use super::values::seed;
use crate::model::Seed;

/// Parameters of an operation that makes one value.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SeedParameters {
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[serde(default, deserialize_with = "seed")]
    #[param(value_type = Option<String>, min_length = 1, max_length = 64)]
    pub seed: Option<Seed>,
}

impl Request for SeedParameters {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, Some::<Self>)
    }
}

seeded!(SeedParameters);
