//! `GET /api/v2/files`.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use auth::Caller;

use super::input::{parameters, plan_of};
use super::reply::json;
use crate::app;
use crate::error::{Error, Failures};
use crate::state::State;
use crate::wire::files::{FileParameters, FileSearch, FilesAnswer};

/// Search files
///
/// Files whose names hold all words, or match the expression, and pass all filters; in the order
/// of their ids unless `order` says otherwise.
#[utoipa::path(
    operation_id = "searchFiles",
    tag = "search",
    params(FileParameters),
    responses((status = 200, description = "The files", body = FilesAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/files")]
pub async fn search_files(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let search = FileSearch::try_from(parameters::<FileParameters>(&request)?)?;
    let owner = caller.key.as_ref().map_or("", |key| key.owner.as_str());
    let (answer, permit) = app::search_files(&state, (owner, plan_of(&caller)), search).await?;
    let mut response = json(&answer)?;
    // The permit is dropped with the response head, once the body is compressed and counted by its
    // connection.
    response.extensions_mut().insert(permit);
    Ok(response)
}
