//! `/api/SocialNumber`.

use actix_web::web::Data;
use actix_web::{Error, HttpResponse, get, post};

use super::Ask;
use super::answer;
use crate::error::{BodyFailures, Failures};
use crate::model::ssn;
use crate::state::State;
use crate::wire::{DrawParams, NumberAnswer, NumberParams, NumberValidation};

/// Make a social security number of the United States
#[utoipa::path(
    operation_id = "generateSocialNumber",
    tag = "SocialNumber",
    params(DrawParams),
    responses(
        (status = 200, body = String, content_type = "application/json", headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data")),
            example = json!("167-26-5220")),
        Failures
    )
)]
#[get("/api/SocialNumber")]
pub async fn generate(ask: Ask<DrawParams>) -> Result<HttpResponse, Error> {
    let seed = ask.seed(&ask.draw)?;
    let mut number = String::new();
    ssn::write(&mut seed.random("generateSocialNumber", ""), &mut number);
    Ok(answer::drawn(&seed, answer::json(&number)))
}

/// Check a tax or identity number
#[utoipa::path(
    operation_id = "validateSocialNumber",
    tag = "SocialNumber",
    params(NumberParams),
    request_body(content(
        (NumberValidation = "application/json"),
        (NumberValidation = "application/json-patch+json"),
        (NumberValidation = "text/json"),
        (NumberValidation = "application/*+json")
    )),
    responses((status = 200, body = NumberAnswer), Failures, BodyFailures)
)]
#[post("/api/SocialNumber")]
pub async fn validate(ask: Ask<NumberParams>, state: Data<State>) -> HttpResponse {
    let verdict = ask.schemes.check(&ask.number, state.today());
    answer::fresh(answer::json(&NumberAnswer::from(verdict)))
}
