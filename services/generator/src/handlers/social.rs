//! `/api/SocialNumber`.

use actix_web::web::Data;
use actix_web::{Error, HttpResponse, get, post};
use auth::After;
use shell::Fault;

use super::input::{BodyInput, Input};
use super::reply;
use crate::error::{BodyFailures, Failures};
use crate::metrics::Kind;
use crate::model::Random;
use crate::state::State;
use crate::wire::{
    IdentityParameters, IdentityRequest, NumberAnswer, NumberParameters, NumberRequest,
    NumberValidation, TextOrTexts,
};

/// Generate tax and identity numbers
///
/// Returns a US Social Security number by default. Identity numbers are available for 60 countries,
/// and tax numbers for 84. **The number may be in use: do not use it in any application.** With
/// `quantity`, the response is a list.
#[utoipa::path(
    operation_id = "generateSocialNumber",
    tag = "SocialNumber",
    params(IdentityParameters),
    responses(
        (status = 200, body = TextOrTexts, example = json!("167-26-5220")),
        Failures
    )
)]
#[get("/api/SocialNumber")]
pub async fn generate_social_number(
    After(input): After<Input<IdentityRequest>>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    if let Some(violation) = input.birth_violation(state.today()) {
        return Err(input.error(Fault::InvalidQuery(vec![violation])));
    }
    let seed = input.seed()?;
    let random = seed.random("generateSocialNumber", "");
    let (schemes, wanted) = (input.schemes.clone(), input.wanted);
    let make = move |random: &mut Random, out: &mut String| {
        // A test ensures that all schemes can generate numbers.
        out.push_str(&schemes.make(random, wanted).unwrap_or_default());
    };
    input.texts(Kind::SocialNumber, &seed, random, "number", make).await
}

/// Check a tax or identity number
#[utoipa::path(
    operation_id = "validateSocialNumber",
    tag = "SocialNumber",
    params(NumberParameters),
    request_body = NumberValidation,
    responses((status = 200, body = NumberAnswer), Failures, BodyFailures)
)]
#[post("/api/SocialNumber")]
pub async fn validate_social_number(
    After(BodyInput(request)): After<BodyInput<NumberRequest>>,
    state: Data<State>,
) -> HttpResponse {
    reply::fresh(reply::json(&NumberAnswer::new(&request, state.today())))
}
