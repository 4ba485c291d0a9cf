//! `/api/Text/Review`.

use actix_web::{Error, HttpResponse, post};
use auth::After;

use super::input::Input;
use crate::error::Failures;
use crate::metrics::Kind;
use crate::model::{Random, review};
use crate::wire::{ReviewParameters, ReviewRequest};

/// Generate product reviews
///
/// About 60% are positive, 25% neutral and 15% negative. The product name is inserted verbatim:
/// escape it before showing it on a web page.
#[utoipa::path(
    operation_id = "generateReviews",
    tag = "Text",
    params(ReviewParameters),
    responses(
        (status = 200, body = Vec<String>,
            example = json!(["Best coffee grinder I have owned so far, and I have owned a few."])),
        Failures
    )
)]
#[post("/api/Text/Review")]
pub async fn generate_reviews(
    After(input): After<Input<ReviewRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let random = seed.random("generateReviews", "");
    let product = input.product.clone();
    let make = move |random: &mut Random, out: &mut String| review::write(&product, random, out);
    input.texts(Kind::Review, &seed, random, "review", make).await
}
