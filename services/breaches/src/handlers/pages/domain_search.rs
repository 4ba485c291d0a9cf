//! The addresses at a verified domain, as a page and for download.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};

use super::account::page;
use super::domains::verify_page;
use super::download::DownloadFormat;
use super::failure::PageError;
use super::form::Fields;
use super::messages::domain;
use super::visitor::SignedIn;
use crate::app::{self, ReportFilter};
use crate::handlers::reply;
use crate::pages::{DomainPage, DomainTable};
use crate::state::State;

/// Shows the addresses at a verified domain, or how to verify a pending one.
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

/// Downloads a domain's addresses as `json` (the same as in the API) or `csv`.
pub async fn export(
    visitor: SignedIn,
    path: Path<(String, String)>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (name, format) = path.into_inner();
    let domain = domain(&name)?;
    let format = DownloadFormat::parse(&format)?;
    let names = app::domain_export(&state, visitor.subscriber.id, &domain).await?;
    let response = format.response(domain.as_str());
    Ok(match format {
        DownloadFormat::Csv => reply::in_pieces(response, DomainTable::new(domain, names)).await?,
        DownloadFormat::Json => reply::in_pieces(response, names).await?,
    })
}
