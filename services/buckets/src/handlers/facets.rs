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
/// Returns the number of matching files per bucket, extension and bucket type, without the files
/// themselves. Accepts the same parameters as `searchFiles`, with the same package restrictions.
/// All matching files are counted, including those beyond the package's depth. `limit` is the
/// maximum number of buckets and of extensions to return; the order and paging parameters have no
/// effect. Each count equals `meta.results` for the same search filtered by that bucket, extension
/// or type.
#[utoipa::path(
    operation_id = "getFacets",
    tag = "search",
    params(FileParameters),
    responses((status = 200, description = "The file counts.", body = FacetsAnswer), Failures),
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
