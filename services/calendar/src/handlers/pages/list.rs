//! The list of upcoming events, and of the events of a day.

use actix_web::HttpResponse;
use askama::Template;

use super::head::Head;
use super::visit::{Reader, Subscription, Visit};
use crate::app::pages::{self, Choices, ListView};
use crate::error::Error;
use crate::model::spoken;
use crate::wire::pages::query::PageQuery;

/// The path of the list.
pub const PATH: &str = "/events/";

/// A slice of a list with links to the other pages.
#[derive(Template)]
#[template(path = "events.html")]
pub struct EventList<'a> {
    pub list: &'a ListView,
    pub previous: Option<String>,
    pub next: Option<String>,
}

impl<'a> EventList<'a> {
    /// Builds the slice of the list at a path.
    pub fn new(
        list: &'a ListView,
        reader: &Reader,
        query: &PageQuery,
        path: &str,
    ) -> EventList<'a> {
        let path = format!("{}{}", reader.root.trim_end_matches('/'), path);
        let href = |page: i64| query.href(&path, page);
        EventList {
            list,
            previous: (list.page > 1).then(|| href(list.page - 1)),
            next: (list.page < list.pages).then(|| href(list.page + 1)),
        }
    }
}

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage<'a> {
    root: &'a str,
    title: &'a str,
    search: &'a str,
    day: String,
    narrowed: bool,
    choices: &'a Choices,
    total: i64,
    events: EventList<'a>,
    subscription: Subscription,
}

/// Lists events.
pub async fn list(visit: Visit) -> HttpResponse {
    visit.answer(shown).await
}

async fn shown(reader: &Reader) -> Result<HttpResponse, Error> {
    let (state, query) = (&reader.state, reader.query());
    if query.as_calendar {
        let feed = pages::subscription(state, &reader.request).await?;
        return reader.calendar(feed).await;
    }
    let (choices, list) = pages::list_page(state, &reader.request).await?;
    let title = match query.day {
        Some(day) => spoken::day(day),
        None => "Events".to_owned(),
    };
    let name = &state.site.settings.site_name;
    let head = Head {
        description: format!("{title}: what is on, when and where. {name}"),
        current: if query.is_narrowed() { "" } else { "events/" },
        path: query.href(PATH, query.page),
        calendar: query.calendar(PATH),
        unindexed: query.is_narrowed(),
        title,
        ..Head::default()
    };
    let page = ListPage {
        root: &reader.root,
        title: &head.title,
        search: &query.search,
        day: query.day.map(|day| day.to_string()).unwrap_or_default(),
        narrowed: query.is_narrowed(),
        choices: &choices,
        total: list.total,
        events: EventList::new(&list, reader, query, PATH),
        subscription: reader.subscription(&query.calendar(PATH)).of(list.total),
    };
    Ok(reader.show(&head, &page))
}
