//! `/licenses`: the licence texts of the embedded data.

use actix_web::{HttpResponse, get};

const NOTICES: &str = concat!(
    include_str!("../../data/ATTRIBUTION.md"),
    "\n---\n\n",
    include_str!("../../data/LICENSES/faker-js.txt"),
    "\n---\n\n",
    include_str!("../../data/LICENSES/python-faker.txt"),
    "\n---\n\n",
    include_str!("../../data/LICENSES/unicode-cldr.txt"),
    "\n---\n\n",
    include_str!("../../data/LICENSES/libphonenumber.txt"),
    "\n---\n\n",
    include_str!("../../data/LICENSES/python-codicefiscale.txt"),
    "\n---\n\n",
    include_str!("../../data/LICENSES/geonames.txt"),
);

/// Get the licenses of the embedded data
#[utoipa::path(
    operation_id = "readLicenses",
    tag = "Misc",
    security(()),
    responses((status = 200, body = String, content_type = "text/plain"))
)]
#[get("/licenses")]
pub async fn read_licenses() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .insert_header(("cache-control", "public, max-age=3600"))
        .body(NOTICES)
}
