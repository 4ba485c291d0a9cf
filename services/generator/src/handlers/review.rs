//! `/api/Text/Review`.

use actix_web::{Error, HttpResponse, post};
use auth::After;

use super::input::Input;
use crate::error::Failures;
use crate::model::review;
use crate::wire::{ReviewParameters, ReviewRequest};

/// Make reviews of a product
///
/// Of 100 buyers about 60 are happy, 25 undecided and 15 unhappy. The product is written as it was
/// given; escape it before it becomes a part of a page.
#[utoipa::path(
    operation_id = "generateReviews",
    tag = "Text",
    params(ReviewParameters),
    responses(
        (status = 200,
            content(
                (Vec<String> = "application/json", example = json!(["Best coffee grinder I have owned so far, and I have owned a few."])),
                (String = "text/csv"),
                (String = "application/x-ndjson"))),
        Failures
    )
)]
#[post("/api/Text/Review")]
pub async fn generate_reviews(
    After(input): After<Input<ReviewRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let mut random = seed.random("generateReviews", "");
    let product = input.product.clone();
    let make = move |out: &mut String| review::write(&product, &mut random, out);
    Ok(input.texts(&seed, input.quantity, "review", make))
}
