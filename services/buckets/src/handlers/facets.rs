//! `GET /api/v2/files/facets`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use auth::Caller;

use super::input::{owner_and_plan, parameters};
use super::reply::json;
use crate::app;
use crate::error::{Error, Failures};
use crate::state::State;
use crate::wire::facets::FacetsAnswer;
use crate::wire::files::{FileParameters, FileSearch};

/// Count files by bucket, extension and type
///
/// Shows which buckets hold the files of a search, without their names. Takes the parameters of
/// `searchFiles` with the same packages, and counts all files of the search, beyond the depth of the
/// package too. `limit` is the most buckets and extensions; order, start and paging have no effect.
/// A count equals `meta.results` of the search with that bucket, extension or type as a filter.
#[utoipa::path(
    operation_id = "getFacets",
    tag = "search",
    params(FileParameters),
    responses((status = 200, description = "The counts", body = FacetsAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/files/facets")]
pub async fn get_facets(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let search = FileSearch::try_from(parameters::<FileParameters>(&request)?)?;
    json(&app::get_facets(&state, owner_and_plan(&caller), search).await?)
}
