//! Pages that other sites embed in frames, and the script that adds such a frame.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Data;
use askama::Template;

use super::super::reuse::Lasting;
use super::visit::{Reader, Visit};
use crate::app::pages::{self, ListView};
use crate::error::Error;
use crate::model::language::{Words, capitalized};
use crate::model::month::Month;
use crate::state::State;
use crate::wire::pages::Link;
use crate::wire::pages::month::MonthView;
use crate::wire::pages::query::PageQuery;
use crate::wire::parameter_errors::ParameterErrors;

/// The script that other sites include.
const SCRIPT: &str = include_str!("../../../assets/embed.js");

/// The placeholder in the script for the frame titles.
const TITLES: &str = "[[\"en\", \"Events\"]]";

#[derive(Template)]
#[template(path = "embed_list.html")]
struct EmbeddedList<'a> {
    list: &'a ListView,
    words: &'static Words,
    /// The URL of the page that lists all of these events.
    all: String,
}

#[derive(Template)]
#[template(path = "embed_month.html")]
struct EmbeddedMonth<'a> {
    words: &'static Words,
    view: &'a MonthView,
    previous: Option<Link>,
    next: Option<Link>,
    all: String,
}

/// Shows upcoming events.
pub async fn list(visit: Visit) -> HttpResponse {
    visit
        .reuse_page(Lasting::Second, async |reader| {
            let (query, embed) = (reader.query(), &reader.query().embed);
            if query.period.is_some() {
                return Err(ParameterErrors::one("date", "is not supported here").into());
            }
            let list = pages::first_of_list(&reader.state, &reader.request, embed.count).await?;
            let (root, words) = (reader.root().trim_end_matches('/'), reader.words());
            let all = format!("{root}{}", query.href(&query.path(), 1));
            let main = EmbeddedList { list: &list, words, all };
            Ok(reader.show_embedded(words.events, embed.class(), &main))
        })
        .await
}

/// Shows a month.
pub async fn month(visit: Visit) -> HttpResponse {
    visit.reuse_page(Lasting::Day, shown_month).await
}

async fn shown_month(reader: &Reader) -> Result<HttpResponse, Error> {
    let PageQuery { embed, language, .. } = reader.query();
    if reader.query().is_narrowed() {
        return Err(ParameterErrors::one("category", "is not supported in a month").into());
    }
    let (view, _) = pages::month_page(&reader.state, &reader.request, embed.month).await?;
    let step = |month: Month| Link {
        text: capitalized(&reader.language().month(month.first())),
        href: format!("{}embed/month?{}", reader.root(), embed.query_of(month, *language)),
    };
    let main = EmbeddedMonth {
        words: reader.words(),
        previous: view.previous.map(step),
        next: view.next.map(step),
        all: format!("{}events/month/{}/{}", reader.root(), view.code, reader.page_query()),
        view: &view,
    };
    Ok(reader.show_embedded(&view.name, embed.class(), &main))
}

/// Returns the script that other sites include to add a frame. It contains the frame titles in all
/// languages of the site, starting with the default.
pub async fn script(state: Data<State>) -> HttpResponse {
    let languages = state.site.settings.languages().into_iter();
    let titles: Vec<(&str, &str)> =
        languages.map(|language| (language.code(), language.words().events)).collect();
    let script = SCRIPT.replace(TITLES, &serde_json::json!(titles).to_string());
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .content_type("text/javascript; charset=utf-8")
        .body(script)
}
