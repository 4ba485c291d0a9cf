//! Requests for reviews.

use serde::Deserialize;
use shell::Violation;
use utoipa::IntoParams;
use validator::Validate;

use super::request::{Extent, MOST, Request, complete, seeded, series};
use super::values::text;
use crate::model::Seed;

/// Parameters of `POST /api/Text/Review`.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReviewParameters {
    /// Product name, inserted verbatim into the reviews.
    #[serde(default, deserialize_with = "text::<_, 50>")]
    #[param(value_type = String, required = true, min_length = 1, max_length = 50, pattern = r"[^\s\u0085]", example = "coffee grinder")]
    #[validate(required)]
    product: Option<String>,
    /// Number of reviews: up to 500 as JSON or a workbook, or up to 1,000,000 as CSV or NDJSON.
    #[param(value_type = i32, minimum = 1, maximum = 500)]
    #[validate(required(code = "absent"), range(min = 1, max = MOST))]
    quantity: Option<i32>,
    /// Makes the response reproducible: the same seed and parameters return the same body as long
    /// as `X-Data-Version` does not change. Default: a random seed, returned in `X-Seed`.
    #[param(value_type = Option<String>, max_length = 64)]
    seed: Option<Seed>,
    /// Number of values to skip. With the same seed, every part is a slice of the same list.
    #[param(value_type = Option<i32>, minimum = 0, default = 0)]
    #[validate(range(min = 0, max = 2147483647))]
    offset: Option<i32>,
    /// Starts CSV with a byte order mark, which Excel needs to recognize UTF-8.
    #[param(value_type = Option<bool>, default = false)]
    bom: Option<bool>,
}

/// A request for reviews.
pub struct ReviewRequest {
    /// The name of the product.
    pub product: String,
    /// Number of reviews.
    pub quantity: usize,
    /// The caller's seed.
    pub seed: Option<Seed>,
    /// The slice of the list to return.
    pub extent: Extent,
}

impl Request for ReviewRequest {
    const QUANTITY: Option<(&'static str, usize)> = Some(("quantity", 500));

    fn read(query: &str, _: &str) -> Result<Self, Vec<Violation>> {
        complete(query, |ReviewParameters { product, quantity, seed, offset, bom }| {
            Some(Self {
                product: product?,
                quantity: quantity?.try_into().ok()?,
                seed,
                extent: Extent::new(offset, bom),
            })
        })
    }
}

seeded!(ReviewRequest);
series!(ReviewRequest, |it| Some(it.quantity));
