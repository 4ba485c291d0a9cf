//! Redirects URLs from the legacy system.

use super::site::SITE;
use super::visit::{Reader, Visit, moved_page};
use crate::app::pages::{self, Named};
use crate::error::Error;
use crate::model::month::Month;
use crate::model::period::Period;
use crate::model::slug::lookup_form;
use crate::wire::pages::query::{ATOM, LIST, PageQuery};
use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Path;

/// Redirects the root to the list, or to the page requested by one of the legacy query parameters.
pub async fn home(visit: Visit) -> HttpResponse {
    visit
        .answer(async |reader| {
            let query = reader.query();
            if !query.event.is_empty() {
                return permanent(format!(
                    "/event/{}/{}",
                    lookup_form(&query.event),
                    reader.page_query()
                ));
            }
            if let Some(id) = query.post {
                let path = pages::path_of(&reader.state, &reader.request, Named::Event, id).await?;
                return Ok(moved_page(path));
            }
            Ok(HttpResponse::Found().insert_header((header::LOCATION, list_of(query))).finish())
        })
        .await
}

/// Redirects to the list.
pub async fn list(visit: Visit) -> HttpResponse {
    visit.answer(async |reader| permanent(list_of(reader.query()))).await
}

/// Redirects to page `number` of the list.
pub async fn page(visit: Visit, number: Path<i64>) -> HttpResponse {
    visit.answer(async |reader| permanent(reader.query().href(LIST, *number))).await
}

/// Redirects to today's list.
pub async fn today(visit: Visit) -> HttpResponse {
    let location = |reader: &Reader| {
        list_of(&PageQuery { period: Some(Period::Day(reader.today())), ..reader.query().clone() })
    };
    visit
        .answer(async |reader| {
            Ok(HttpResponse::Found().insert_header((header::LOCATION, location(reader))).finish())
        })
        .await
}

/// Redirects to the Atom feed.
pub async fn feed(visit: Visit) -> HttpResponse {
    visit.answer(async |reader| permanent(reader.query().href(ATOM, 1))).await
}

/// Redirects an old day, month, feed or view URL to its new page.
pub async fn day(visit: Visit, text: Path<String>) -> HttpResponse {
    match text.as_str() {
        "feed" => return feed(visit).await,
        "photo" | "map" | "summary" => return list(visit).await,
        _ => {}
    }
    visit
        .answer(async |reader| {
            if let Some(month) = Month::parse(&text) {
                return permanent(format!(
                    "/events/month/{}/{}",
                    month.code(),
                    reader.page_query()
                ));
            }
            let period = Some(Period::parse_day(&text).ok_or(Error::NoRoute)?);
            permanent(list_of(&PageQuery { period, ..reader.query().clone() }))
        })
        .await
}

/// Redirects to a tag page. The old URL can end with a view name such as `list`.
pub async fn tag(visit: Visit, path: Path<String>) -> HttpResponse {
    let slug = path.split('/').next().unwrap_or_default().to_owned();
    visit.answer(async |reader| permanent(reader.with_query(format!("/tag/{slug}/")))).await
}

/// Returns the page for an old category URL, or `None` if the path isn't one. Such a path ends with
/// a view name such as `list`, with a day, or with `feed`.
pub fn view_of_category(path: &str, reader: &Reader) -> Option<String> {
    let (rest, view) = path.rsplit_once('/')?;
    let (_, category) = rest.rsplit_once('/').unwrap_or(("", rest));
    let query = PageQuery { category: lookup_form(category), ..reader.query().clone() };
    match view {
        "list" | "month" | "today" | "day" | "week" | "photo" | "map" | "summary" => {
            Some(reader.with_query(format!("/events/category/{rest}/")))
        }
        "feed" => Some(query.href(ATOM, 1)),
        day => {
            let period = Some(Period::parse_day(day)?);
            Some(list_of(&PageQuery { period, ..query }))
        }
    }
}

/// Redirects to the site icon.
pub async fn icon() -> HttpResponse {
    let location = format!("/{}", SITE.icon_href());
    HttpResponse::Found().insert_header((header::LOCATION, location)).finish()
}

/// Returns the URL of the list that `query` requests, or the URL of that list's iCalendar file.
pub fn list_of(query: &PageQuery) -> String {
    match query.as_calendar {
        true => query.calendar(&query.path()),
        false => query.href(&query.path(), query.page),
    }
}

/// Redirects permanently to `location`. The shell prepends the path of PUBLIC_URL.
pub fn permanent(location: String) -> Result<HttpResponse, Error> {
    Ok(HttpResponse::MovedPermanently().insert_header((header::LOCATION, location)).finish())
}
