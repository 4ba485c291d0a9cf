//! The day and week pages.

use actix_web::HttpResponse;
use actix_web::web::Path;

use super::super::reuse::Lasting;
use super::list;
use super::recorded::{list_of, permanent};
use super::visit::{Reader, Visit};
use crate::error::Error;
use crate::model::period::Period;
use crate::wire::pages::query::PageQuery;

/// Shows the events on a day.
pub async fn day(visit: Visit, text: Path<String>) -> HttpResponse {
    let period = Period::parse_day(&text).filter(|day| day.is_in_years_of_events());
    visit
        .reuse(Lasting::Day, async |reader| shown(reader, period.ok_or(Error::NoRoute)?).await)
        .await
}

/// Shows the events in a week. Redirects from old URLs, which contain a day in the week.
pub async fn week(visit: Visit, text: Path<String>) -> HttpResponse {
    visit
        .reuse(Lasting::Day, async |reader| {
            let first_weekday = reader.language().first_weekday();
            if let Some(day) = Period::parse_day(&text) {
                let week = Period::week_of(day.first(), first_weekday);
                return permanent(list_of(&PageQuery {
                    period: Some(week),
                    ..reader.query().clone()
                }));
            }
            let week = Period::parse_week(&text, first_weekday);
            shown(reader, week.ok_or(Error::NoRoute)?).await
        })
        .await
}

/// Shows today's events.
pub async fn today(visit: Visit) -> HttpResponse {
    visit.reuse(Lasting::Day, async |reader| shown(reader, Period::Day(reader.today())).await).await
}

/// Shows this week's events.
pub async fn this_week(visit: Visit) -> HttpResponse {
    visit
        .reuse(Lasting::Day, async |reader| {
            let week = Period::week_of(reader.today(), reader.language().first_weekday());
            shown(reader, week).await
        })
        .await
}

async fn shown(reader: &Reader, period: Period) -> Result<HttpResponse, Error> {
    list::shown(reader, PageQuery { period: Some(period), ..reader.query().clone() }).await
}
