//! `/api/SocialNumber`.

use actix_web::web::Data;
use actix_web::{Error, HttpResponse, get, post};
use auth::After;

use super::input::{BodyInput, Input};
use super::reply;
use crate::error::{BodyFailures, Failures};
use crate::model::ssn;
use crate::state::State;
use crate::wire::{NumberAnswer, NumberParameters, NumberValidation, SeedParameters};

/// Make a social security number of the United States
#[utoipa::path(
    operation_id = "generateSocialNumber",
    tag = "SocialNumber",
    params(SeedParameters),
    responses(
        (status = 200, body = String, content_type = "application/json", headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data")),
            example = json!("167-26-5220")),
        Failures
    )
)]
#[get("/api/SocialNumber")]
pub async fn generate_social_number(
    After(input): After<Input<SeedParameters>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let mut number = String::new();
    ssn::write(&mut seed.random("generateSocialNumber", ""), &mut number);
    Ok(reply::generated(&seed, reply::json(&number)))
}

/// Check a tax or identity number
#[utoipa::path(
    operation_id = "validateSocialNumber",
    tag = "SocialNumber",
    params(NumberParameters),
    request_body(content(
        (NumberValidation = "application/json"),
        (NumberValidation = "application/json-patch+json"),
        (NumberValidation = "text/json"),
        (NumberValidation = "application/*+json")
    )),
    responses((status = 200, body = NumberAnswer), Failures, BodyFailures)
)]
#[post("/api/SocialNumber")]
pub async fn validate_social_number(
    After(BodyInput(request)): After<BodyInput>,
    state: Data<State>,
) -> HttpResponse {
    let verdict = request.schemes.check(&request.number, state.today());
    reply::fresh(reply::json(&NumberAnswer::from(verdict)))
}
