//! The addresses at a verified domain, as a page and for download.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderValue};
use actix_web::web::{Data, Path};

use super::account::page;
use super::domains::verify_page;
use super::failure::PageError;
use super::form::Fields;
use super::messages::domain;
use super::visitor::SignedIn;
use crate::app::{self, ReportFilter};
use crate::error::Error;
use crate::handlers::reply;
use crate::pages::{DomainPage, DomainTable};
use crate::state::State;

/// Shows a verified domain's addresses, or how to verify a pending one.
pub async fn show(
    visitor: SignedIn,
    name: Path<String>,
    fields: Fields,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let domain = domain(&name)?;
    let subscriber = visitor.subscriber.id;
    let detail = app::domain_detail(&state, subscriber, &domain).await?;
    if !detail.row.verified {
        return Ok(verify_page(&visitor, &detail, None));
    }
    let (alias, latest) = (fields.text("alias"), fields.has("latest"));
    let filter = ReportFilter { alias: alias.to_owned(), latest };
    let report = app::domain_report(&state, subscriber, &domain, filter).await?;
    let frame = visitor.frame("domains");
    let main = DomainPage { frame, detail: &detail, report: &report, alias, latest };
    Ok(visitor.respond(&page(domain.as_str()).wide(), &main))
}

/// Downloads a domain's addresses, either as `json` (same as in the API) or `csv`.
pub async fn export(
    visitor: SignedIn,
    path: Path<(String, String)>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (name, format) = path.into_inner();
    let domain = domain(&name)?;
    let as_csv = match format.as_str() {
        "json" => false,
        "csv" => true,
        _ => return Err(Error::NotFound.into()),
    };
    let names = app::domain_export(&state, visitor.subscriber.id, &domain).await?;
    let disposition = format!("attachment; filename=\"{domain}.{format}\"");
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static("no-store")));
    response.insert_header((header::CONTENT_DISPOSITION, disposition));
    Ok(if as_csv {
        response.content_type("text/csv; charset=utf-8");
        reply::in_pieces(response, DomainTable::new(domain, names)).await?
    } else {
        response.content_type("application/json");
        reply::in_pieces(response, names).await?
    })
}
