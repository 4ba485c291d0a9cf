//! `/api/Name`.

use std::sync::LazyLock;

use actix_web::{Error, HttpRequest, HttpResponse, get};
use auth::{After, Caller};

use super::input::Input;
use super::reply::{List, Unchanged};
use crate::error::Failures;
use crate::metrics::Kind;
use crate::model::{Random, names};
use crate::wire::{CultureAnswer, NameParameters, NameRequest};

/// Generate personal names
#[utoipa::path(
    operation_id = "generateNames",
    tag = "Name",
    params(NameParameters),
    responses(
        (status = 200, body = Vec<String>,
            example = json!(["Patricia Clements", "Derrick Taylor"])),
        Failures
    )
)]
#[get("/api/Name")]
pub async fn generate_names(
    After(input): After<Input<NameRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let random = seed.random("generateNames", input.culture.code);
    let (culture, part) = (input.culture, input.part);
    let make = move |random: &mut Random, out: &mut String| culture.write(random, part, out);
    input.texts(Kind::Name, &seed, random, "name", make).await
}

/// List cultures for names
#[utoipa::path(
    operation_id = "listNameCultures",
    tag = "Name",
    responses(
        (status = 200, body = Vec<CultureAnswer>),
        Unchanged,
        Failures
    )
)]
#[get("/api/Name/Cultures")]
pub async fn list_name_cultures(_caller: Caller, request: HttpRequest) -> HttpResponse {
    cultures().answer(&request)
}

/// Returns the list of cultures, which is shared by two operations.
pub fn cultures() -> &'static List {
    static CULTURES: LazyLock<List> = LazyLock::new(|| {
        List::of(&names::all().iter().map(CultureAnswer::from).collect::<Vec<_>>())
    });
    &CULTURES
}
