//! Pages that other sites show in frames, and the script that adds such a frame.

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use askama::Template;

use super::super::reuse::Lasting;
use super::visit::{Reader, Visit};
use crate::app::pages::{self, ListView};
use crate::error::Error;
use crate::model::month::Month;
use crate::wire::pages::Link;
use crate::wire::pages::month::MonthView;
use crate::wire::pages::query::PageQuery;
use crate::wire::parameter_errors::ParameterErrors;

/// The script for other sites.
const SCRIPT: &str = include_str!("../../../assets/embed.js");

#[derive(Template)]
#[template(path = "embed_list.html")]
struct EmbeddedList<'a> {
    list: &'a ListView,
    /// The page with all events of this list.
    all: String,
}

#[derive(Template)]
#[template(path = "embed_month.html")]
struct EmbeddedMonth<'a> {
    view: &'a MonthView,
    previous: Option<Link>,
    next: Option<Link>,
    all: String,
}

/// Shows the next events.
pub async fn list(visit: Visit) -> HttpResponse {
    visit
        .reuse_page(Lasting::Second, async |reader| {
            let (query, embed) = (reader.query(), &reader.query().embed);
            if query.period.is_some() {
                return Err(ParameterErrors::one("date", "is not supported here").into());
            }
            let list = pages::first_of_list(&reader.state, &reader.request, embed.count).await?;
            let root = reader.root.trim_end_matches('/');
            let all = format!("{root}{}", query.href(&query.path(), 1));
            let main = EmbeddedList { list: &list, all };
            Ok(reader.show_embedded("Events", embed.class(), &main))
        })
        .await
}

/// Shows a month.
pub async fn month(visit: Visit) -> HttpResponse {
    visit.reuse_page(Lasting::Day, shown_month).await
}

async fn shown_month(reader: &Reader) -> Result<HttpResponse, Error> {
    let PageQuery { embed, .. } = reader.query();
    if reader.query().is_narrowed() {
        return Err(ParameterErrors::one("category", "is not supported in a month").into());
    }
    let (view, _) = pages::month_page(&reader.state, &reader.request, embed.month).await?;
    let step = |month: Month| Link {
        text: month.name(),
        href: format!("{}embed/month?{}", reader.root, embed.query_of(month)),
    };
    let main = EmbeddedMonth {
        previous: view.previous.map(step),
        next: view.next.map(step),
        all: format!("{}events/month/{}/", reader.root, view.code),
        view: &view,
    };
    Ok(reader.show_embedded(&view.name, embed.class(), &main))
}

/// Returns the script with which other sites add a frame.
pub async fn script() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .content_type("text/javascript; charset=utf-8")
        .body(web::Bytes::from_static(SCRIPT.as_bytes()))
}
