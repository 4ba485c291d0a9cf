//! A domain's new exposures as a page and for download, plus the setting for the monthly email.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};

use super::account::page;
use super::domains::path;
use super::download::DownloadFormat;
use super::failure::PageError;
use super::form::{Fields, Form};
use super::messages::{domain, see_other};
use super::visitor::SignedIn;
use crate::app::{self, ReportCsv, ReportJson};
use crate::error::Error;
use crate::handlers::reply;
use crate::model::instant;
use crate::model::month::Month;
use crate::pages::ReportPage;
use crate::state::State;

/// Shows new exposures since a date. The default is the first day of last month.
pub async fn show(
    visitor: SignedIn,
    name: Path<String>,
    fields: Fields,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (domain, since) = (domain(&name)?, since(&fields, &state)?);
    let subscriber = visitor.subscriber.id;
    let report = app::report_page(&state, subscriber, &domain, since).await?;
    let monthly = app::has_monthly_report(&state, subscriber, &domain).await?;
    let (frame, now) = (visitor.frame("domains"), state.clock().unix());
    let main = ReportPage { frame, report: &report, monthly, now };
    Ok(visitor.respond(&page(&format!("New exposures of {domain}")).wide(), &main))
}

fn since(fields: &Fields, state: &State) -> Result<i64, Error> {
    match fields.text("since") {
        "" => Ok(Month::last_before(state.clock().unix()).start()),
        text => instant::parse_since(text).ok_or(Error::Since),
    }
}

/// Downloads the report as `json` (the same as in the API) or `csv`.
pub async fn export(
    visitor: SignedIn,
    path: Path<(String, String)>,
    fields: Fields,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (name, format) = path.into_inner();
    let (domain, since) = (domain(&name)?, since(&fields, &state)?);
    let format = DownloadFormat::parse(&format)?;
    let (rows, _) = app::report_rows(&state, visitor.subscriber.id, &domain, since).await?;
    let response = format.response(&format!("{domain}-since-{}", instant::date(since)));
    Ok(match format {
        DownloadFormat::Csv => reply::in_pieces(response, ReportCsv::new(rows)).await?,
        DownloadFormat::Json => {
            reply::in_pieces(response, ReportJson::new(rows, state.clock().unix())).await?
        }
    })
}

/// Turns the monthly email on or off.
pub async fn set_monthly(
    form: Form<SignedIn>,
    name: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let domain = domain(&name)?;
    let monthly = match form.fields.text("monthly") {
        "on" => true,
        "off" => false,
        _ => return Err(Error::Unreadable.into()),
    };
    app::set_monthly_report(&state, form.sender.subscriber.id, &domain, monthly).await?;
    Ok(see_other(&format!("{}/report", path(domain.as_str()))))
}
