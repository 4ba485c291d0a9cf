//! Business and brand names, under `/api/Name`.

use actix_web::{Error, HttpResponse, get, post};
use auth::After;

use super::input::Input;
use crate::error::Failures;
use crate::metrics::Kind;
use crate::model::{Random, brand, suggestion};
use crate::wire::{
    BrandRequest, BusinessParameters, BusinessRequest, WordsParameters, WordsRequest,
};

/// Suggest business names
///
/// Returns 20 distinct names: 12 start with the given words, 4 contain them, and 4 extend the last
/// word, as in `Blue Riverworks`.
#[utoipa::path(
    operation_id = "suggestBusinessNames",
    tag = "Name",
    params(WordsParameters),
    responses(
        (status = 200, body = Vec<String>,
            example = json!(["Blue River Bakery", "Little Blue River Travel", "Blue Riverworks"])),
        Failures
    )
)]
#[get("/api/Name/Suggestions")]
pub async fn suggest_business_names(
    After(input): After<Input<WordsRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let mut random = seed.random("suggestBusinessNames", "");
    let names = suggestion::suggest(&input.words, &mut random);
    input.made_texts(Kind::Business, &seed, "name", names).await
}

/// Generate business names
///
/// The names include a legal form of the culture's country. A business with the same name may
/// exist.
#[utoipa::path(
    operation_id = "generateBusinessNames",
    tag = "Name",
    params(BusinessParameters),
    responses(
        (status = 200, body = Vec<String>,
            example = json!(["Livingston Landscaping LLC", "Pioneer Construction Inc."])),
        Failures
    )
)]
#[post("/api/Name/BusinessName")]
pub async fn generate_business_names(
    After(input): After<Input<BusinessRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let culture = input.culture;
    let random = seed.random("generateBusinessNames", culture.code);
    let make = move |random: &mut Random, out: &mut String| culture.write_company(random, out);
    input.texts(Kind::Business, &seed, random, "name", make).await
}

/// Generate brand names
///
/// Returns 20 distinct names of 3 to 24 letters and digits. A brand with the same name may exist.
#[utoipa::path(
    operation_id = "generateBrandNames",
    tag = "Name",
    params(WordsParameters),
    responses(
        (status = 200, body = Vec<String>,
            example = json!(["Blueriverio", "GoBlueriver", "Blrvrly"])),
        Failures
    )
)]
#[post("/api/Name/BrandName")]
pub async fn generate_brand_names(
    After(input): After<Input<BrandRequest>>,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let mut random = seed.random("generateBrandNames", "");
    let names = brand::make(&input.words, &mut random);
    input.made_texts(Kind::Brand, &seed, "name", names).await
}
