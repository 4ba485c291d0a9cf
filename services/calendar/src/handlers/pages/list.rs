//! The list of upcoming events, and the lists for single days and weeks.

use actix_web::HttpResponse;
use askama::Template;

use super::super::reuse::Lasting;
use super::head::Head;
use super::recorded::{list_of, permanent};
use super::visit::{Reader, Subscription, Visit};
use crate::app::pages::{self, Choices, ListView, PageRequest, Steps};
use crate::error::Error;
use crate::model::language::{Language, Words, capitalized, sentences};
use crate::model::period::Period;
use crate::wire::pages::Link;
use crate::wire::pages::query::PageQuery;

/// A page of a list, with links to the previous and next pages.
#[derive(Template)]
#[template(path = "events.html")]
pub struct EventList<'a> {
    pub list: &'a ListView,
    pub previous: Option<String>,
    pub next: Option<String>,
    /// The page number and page count, in words.
    page_of: String,
    words: &'static Words,
}

impl<'a> EventList<'a> {
    /// Builds a page of the list at `path`.
    pub fn new(
        list: &'a ListView,
        reader: &Reader,
        query: &PageQuery,
        path: &str,
    ) -> EventList<'a> {
        let path = format!("{}{}", reader.root().trim_end_matches('/'), path);
        let (language, words) = (reader.language(), reader.words());
        let href = |page: i64| query.href(&path, page);
        EventList {
            list,
            previous: (list.page > 1).then(|| href(list.page - 1)),
            next: (list.page < list.pages).then(|| href(list.page + 1)),
            page_of: (words.page_of)(language.count(list.page), language.count(list.pages)),
            words,
        }
    }
}

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage<'a> {
    root: &'a str,
    /// The query string for links to other pages.
    lang: &'a str,
    language: Option<Language>,
    words: &'static Words,
    /// The number of events found, in words.
    found: String,
    /// The HTML for a suggestion below an empty list. Contains a link.
    advice: String,
    /// The path of this page, without its query.
    action: String,
    /// The URL of the same list without the search.
    all: String,
    past: bool,
    title: &'a str,
    search: &'a str,
    narrowed: bool,
    choices: &'a Choices,
    total: i64,
    events: EventList<'a>,
    subscription: Subscription,
    period: Option<PeriodLinks>,
}

/// Links to other days or weeks.
struct PeriodLinks {
    /// `day` or `week`.
    unit: &'static str,
    previous: Option<Link>,
    next: Option<Link>,
    /// The current day or week, unless it is already shown.
    now: Option<Link>,
}

impl PeriodLinks {
    fn new(reader: &Reader, query: &PageQuery, period: Period, steps: Steps) -> PeriodLinks {
        let (root, words) = (reader.root().trim_end_matches('/'), reader.words());
        let link = |text: String, period: Period| {
            let query = PageQuery { period: Some(period), ..query.clone() };
            Link { text, href: format!("{root}{}", query.href(&query.path(), 1)) }
        };
        let name = |period: Period| capitalized(&period.name(reader.language()));
        let now = period.containing(reader.today());
        let (unit, current) = match period {
            Period::Day(_) => ("day", words.today),
            Period::Week(_) => ("week", words.this_week),
        };
        PeriodLinks {
            unit,
            previous: steps.previous.map(|period| link(name(period), period)),
            next: steps.next.map(|period| link(name(period), period)),
            now: (now != period).then(|| link(current.to_owned(), now)),
        }
    }
}

/// Lists events.
pub async fn list(visit: Visit) -> HttpResponse {
    visit
        .reuse(Lasting::Second, async |reader| match reader.query().is_month {
            true => permanent(list_of(reader.query())),
            false => shown(reader, reader.query().clone()).await,
        })
        .await
}

/// Shows the list that a query selects.
pub async fn shown(reader: &Reader, query: PageQuery) -> Result<HttpResponse, Error> {
    let state = &reader.state;
    let request = PageRequest { urls: reader.urls().clone(), query };
    let query = &request.query;
    if query.as_calendar {
        let feed = pages::subscription(state, &request).await?;
        return reader.calendar(feed).await;
    }
    let (choices, list) = pages::list_page(state, &request).await?;
    let path = query.path();
    let (language, words) = (reader.language(), reader.words());
    let title = match query.period {
        Some(period) => capitalized(&period.name(language)),
        None if query.is_past => words.past.to_owned(),
        None => words.events.to_owned(),
    };
    let name = &state.site.settings.site_name;
    let current = match query.period {
        Some(Period::Week(_)) => "events/week/",
        Some(Period::Day(_)) => "",
        None if query.is_past => "",
        None => "events/",
    };
    let head = Head {
        description: (words.about_list)(&title, name),
        current: if query.is_narrowed() { "" } else { current },
        path: PageQuery { language: None, ..query.clone() }.href(&path, query.page),
        calendar: query.calendar(&path),
        unindexed: query.is_narrowed() || (query.period.is_some() && list.total == 0),
        title,
        ..Head::default()
    };
    let months = format!(
        "<a href=\"{}events/month/{}\">{}</a>",
        reader.root(),
        reader.page_query(),
        words.month_pages
    );
    let advice = if query.is_narrowed() { words.try_other_words } else { words.will_appear };
    let action = format!("{}{path}", reader.root().trim_end_matches('/'));
    let (is_past, page_language) = (query.is_past, query.language);
    let all = PageQuery { is_past, language: page_language, ..PageQuery::default() };
    let page = ListPage {
        root: reader.root(),
        lang: reader.page_query(),
        language: query.language,
        words,
        found: (words.found)(language.count(list.total)),
        advice: sentences(advice, &(words.past_events)(&months)),
        all: all.href(&action, 1),
        past: is_past,
        action,
        title: &head.title,
        search: &query.search,
        narrowed: query.is_narrowed(),
        choices: &choices,
        total: list.total,
        events: EventList::new(&list, reader, query, &path),
        subscription: reader.subscription(&query.calendar(&path)).of(list.total),
        period: query.period.map(|period| PeriodLinks::new(reader, query, period, list.steps)),
    };
    Ok(reader.show(&head, &page))
}
