//! `/api/Name`.

use std::convert::Infallible;
use std::sync::LazyLock;

use actix_web::{Error, HttpRequest, HttpResponse, get};
use auth::Caller;

use super::Ask;
use super::answer::{self, Array, List, Unchanged};
use crate::error::Failures;
use crate::model::names;
use crate::wire::{CultureAnswer, NameParams};

/// Make names of people
#[utoipa::path(
    operation_id = "generateNames",
    tag = "Name",
    params(NameParams),
    responses(
        (status = 200, body = Vec<String>, headers(
            ("X-Seed" = String, description = "Asks for the same answer again"),
            ("X-Data-Version" = String, description = "Version of algorithm and data")),
            example = json!(["Pamela Conner", "Dennis Smith"])),
        Failures
    )
)]
#[get("/api/Name")]
pub async fn generate(ask: Ask<NameParams>) -> Result<HttpResponse, Error> {
    let seed = ask.seed(&ask.draw)?;
    let mut random = seed.random("generateNames", ask.culture.code);
    let mut names = Array::new(ask.quantity as usize, 16);
    for _ in 0..ask.quantity {
        let Ok(()) = names.push(|out| {
            ask.culture.write(&mut random, ask.part, out);
            Ok::<(), Infallible>(())
        });
    }
    Ok(answer::drawn(&seed, names.finish()))
}

/// List the cultures that names can be made in
#[utoipa::path(
    operation_id = "listNameCultures",
    tag = "Name",
    responses(
        (status = 200, body = Vec<CultureAnswer>, headers(
            ("ETag" = String, description = "Changes with the list"),
            ("Cache-Control" = String, description = "An hour, for everybody"))),
        Unchanged,
        Failures
    )
)]
#[get("/api/Name/Cultures")]
pub async fn cultures(_caller: Caller, request: HttpRequest) -> HttpResponse {
    static CULTURES: LazyLock<List> = LazyLock::new(|| {
        List::of(&names::all().iter().map(CultureAnswer::from).collect::<Vec<_>>())
    });
    CULTURES.answer(&request)
}
