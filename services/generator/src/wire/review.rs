//! Reviews on the wire.

use serde::{Deserialize, Deserializer};
use shell::Violation;
use utoipa::IntoParams;
use validator::Validate;

use super::request::{Request, complete, seeded};
use super::values::filled;
use crate::model::Seed;

/// The longest name of a product.
const LONGEST_PRODUCT: usize = 50;

/// Parameters of `POST /api/Text/Review`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReviewParameters {
    /// What is reviewed; it stands in the reviews as it is written here.
    #[serde(default, deserialize_with = "product")]
    #[param(value_type = String, required = true, min_length = 1, max_length = 50, pattern = r"[^\s\u0085]", example = "coffee grinder")]
    #[validate(required)]
    product: Option<String>,
    /// How many reviews.
    #[param(value_type = i32, minimum = 1, maximum = 500)]
    #[validate(required(code = "absent"), range(min = 1, max = 500))]
    quantity: Option<i32>,
    /// Makes the answer repeatable: the same seed and parameters give the same body as long as
    /// `X-Data-Version` stays. Without it a fresh one is drawn and told in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
}

fn product<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    filled(deserializer, LONGEST_PRODUCT).map(|product| Some(product.to_owned()))
}

/// A request for reviews.
pub struct ReviewRequest {
    /// What is reviewed.
    pub product: String,
    /// How many reviews.
    pub quantity: usize,
    /// The caller's seed.
    pub seed: Option<Seed>,
}

impl Request for ReviewRequest {
    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |ReviewParameters { product, quantity, seed }| {
            Some(Self { product: product?, quantity: quantity?.try_into().ok()?, seed })
        })
    }
}

seeded!(ReviewRequest);
