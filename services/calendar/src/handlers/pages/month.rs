//! The month page.

use actix_web::HttpResponse;
use actix_web::web::Path;
use askama::Template;

use super::super::reuse::Lasting;
use super::head::Head;
use super::recorded::{list_of, permanent};
use super::visit::{Reader, Subscription, Visit};
use crate::app::pages;
use crate::error::Error;
use crate::model::language::{Words, capitalized};
use crate::model::month::Month;
use crate::wire::pages::Link;
use crate::wire::pages::month::MonthView;
use crate::wire::pages::query::{self, PageQuery};

#[derive(Template)]
#[template(path = "month.html")]
struct MonthPage<'a> {
    root: &'a str,
    /// The query string for links to other pages.
    lang: &'a str,
    words: &'static Words,
    caption: String,
    view: &'a MonthView,
    previous: Option<Link>,
    next: Option<Link>,
    subscription: Subscription,
    /// The URL of an iCalendar file with only this month.
    download: String,
    download_text: String,
}

/// Shows the current month, or redirects to the month in the query.
pub async fn this_month(visit: Visit) -> HttpResponse {
    visit
        .reuse(Lasting::Day, async |reader| match reader.query().period {
            Some(_) => permanent(list_of(&PageQuery { is_month: true, ..reader.query().clone() })),
            None => shown(reader, None).await,
        })
        .await
}

/// Shows a month.
pub async fn month(visit: Visit, code: Path<String>) -> HttpResponse {
    visit
        .reuse(Lasting::Day, async |reader| {
            let month = Month::parse(&code).ok_or(Error::NoRoute)?;
            shown(reader, Some(month)).await
        })
        .await
}

async fn shown(reader: &Reader, month: Option<Month>) -> Result<HttpResponse, Error> {
    let (state, request) = (&reader.state, &reader.request);
    if let (true, Some(month)) = (reader.query().as_calendar, month) {
        let pairs = query::within(month.first(), month.last());
        return reader.calendar(pages::calendar(state, request, pairs).await?).await;
    }
    if reader.query().as_calendar {
        return reader.calendar(pages::subscription(state, request).await?).await;
    }
    let (view, subscribed) = pages::month_page(state, request, month).await?;
    let links = reader.urls().relative();
    let (language, words) = (reader.language(), reader.words());
    let step = |month: Month| Link {
        text: capitalized(&language.month(month.first())),
        href: links.month_page(&month.code()),
    };
    let path = format!("/events/month/{}/", view.code);
    let calendar = format!("{path}?ical=1");
    let download = format!("{}{calendar}", links.base);
    let head = Head {
        title: view.name.clone(),
        description: (words.about_month)(&view.spoken),
        current: "events/month/",
        path,
        calendar,
        unindexed: view.is_empty,
        ..Head::default()
    };
    let page = MonthPage {
        root: reader.root(),
        lang: reader.page_query(),
        words,
        caption: (words.month_by_day)(&view.spoken),
        download_text: (words.download_month)(&view.spoken),
        previous: view.previous.map(step),
        next: view.next.map(step),
        view: &view,
        subscription: reader.subscription("/events/?ical=1").of(subscribed.max(view.events())),
        download,
    };
    Ok(reader.show(&head, &page))
}
