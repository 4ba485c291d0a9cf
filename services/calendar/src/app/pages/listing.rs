//! Event lists on pages.

use jiff::Timestamp;
use jiff::civil::Time;

use super::super::context::RequestContext;
use super::super::interrupt::ListInterrupt;
use super::super::list_permit::ListPermit;
use super::super::request::Request;
use super::super::transactions::{read, read_list};
use super::period::{self, Steps};
use crate::error::Error;
use crate::model::list::Paging;
use crate::model::term::Taxonomy;
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::event_index::{EventIndex, IndexAccess};
use crate::store::series_origins::{self, Announced};
use crate::store::{event_list, imported, term_choices, terms};
use crate::wire::list_input::EventListInput;
use crate::wire::pages::Choice;
use crate::wire::pages::card::{self, CardGroup, Headings};
use crate::wire::pages::query::PageQuery;
use crate::wire::params::Params;
use crate::wire::render_context::RenderContext;

/// Maximum number of terms in the filter form.
const CHOICES: usize = 100;

#[derive(Clone)]
pub struct PageRequest {
    pub urls: Urls,
    pub query: PageQuery,
}

impl PageRequest {
    /// Returns the request for another page of the list.
    pub fn of_page(&self, page: i64) -> PageRequest {
        PageRequest { query: PageQuery { page, ..self.query.clone() }, ..self.clone() }
    }

    /// Builds the list request that an anonymous API client would send.
    pub fn of(&self, pairs: &[(&'static str, String)]) -> Request {
        let params = Params::from_pairs(pairs.iter().map(|(name, text)| (*name, text.as_str())));
        Request { login: None, params: Ok(params), urls: self.urls.clone(), if_match: None }
    }
}

/// The slice of a list that a page shows.
#[derive(Clone, Debug)]
pub struct ListView {
    pub groups: Vec<CardGroup>,
    pub total: i64,
    pub page: i64,
    pub pages: i64,
    /// Links to the nearest periods with events. Only used on day and week pages.
    pub steps: Steps,
}

/// Parameters for an API list request.
pub type ListParameters = Vec<(&'static str, String)>;

/// Reads one page of a list together with its subject. `find` returns the subject and the list
/// parameters.
pub async fn listing<S, F>(
    state: &State,
    request: &PageRequest,
    find: F,
) -> Result<(S, ListView), Error>
where
    S: Send + 'static,
    F: Fn(&mut RequestContext<'_>) -> Result<(S, ListParameters), Error> + Clone + Send + 'static,
{
    if request.query.page < 1 {
        return Err(Error::NoRoute);
    }
    let permit = ListPermit::acquire(state, &request.of(&request.query.list())).await?;
    let read = |permit| {
        let (find, page, index) = (find.clone(), request.clone(), state.index.clone());
        read_list(state, request.of(&[]), move |context, _| {
            let (subject, mut pairs) = find(context)?;
            pairs.push(("page", page.query.page.to_string()));
            let list = view(context, &page, &pairs, (&index, &permit))?;
            Ok((subject, list))
        })
    };
    // Cards show very little of an event's text, so we can release the memory permit here.
    Ok(permit.read(state, read).await?.list)
}

fn view(
    context: &mut RequestContext<'_>,
    request: &PageRequest,
    pairs: &[(&'static str, String)],
    (index, permit): (&EventIndex, &ListPermit),
) -> Result<ListView, ListInterrupt> {
    let Ok(params) = &request.of(pairs).params else { return Err(Error::NoRoute.into()) };
    let mut list = context.decode_list(EventListInput::read(params), EventListInput::decode)?;
    if let Some(named) = &mut list.filter.categories {
        *named = terms::with_descendants(context.db, named)?;
    }
    let access = IndexAccess { index, deadline: permit.deadline };
    let room = permit.page_bytes();
    let (rows, included, total) =
        event_list::page_with_included(context.db, access, &list.filter, list.paging, room)?;
    let Paging { page, .. } = list.paging;
    if rows.is_empty() && page > 1 {
        return Err(Error::NoSuchPage("event").into());
    }
    let included = included.readable_by(&None);
    let links = context.urls.relative();
    let view = RenderContext { urls: &links, ..context.render() };
    let (headings, today) = match request.query.period {
        Some(period) => (Headings::Days, period.first()),
        None => (Headings::Months, view.zone.wall(context.now).date()),
    };
    let groups = card::groups(&rows, &included, view, (headings, today));
    let steps = match request.query.period {
        Some(period) => period::steps(context, access, &request.query, period)?,
        None => Steps::default(),
    };
    Ok(ListView { groups, total, page, pages: list.paging.pages(total), steps })
}

/// The categories and tags in the filter form of a list page.
pub struct Choices {
    pub categories: Vec<Choice>,
    pub tags: Vec<Choice>,
}

/// Reads the first few current and upcoming events.
pub async fn first_of_list(
    state: &State,
    request: &PageRequest,
    events: i64,
) -> Result<ListView, Error> {
    let pairs = first_pairs(state, request, events);
    Ok(listing(state, request, move |_| Ok(((), pairs.clone()))).await?.1)
}

/// The events in a feed of announcements.
pub struct Announcements {
    /// The id of this calendar.
    pub calendar: String,
    pub list: ListView,
    /// The series these events belong to.
    pub series: Vec<Announced>,
    /// Ids of events that used to be the first one in a series but are no longer part of any
    /// series.
    pub left: Vec<i64>,
    /// When any event last changed or left the list.
    pub updated_utc: i64,
}

/// Reads the current and upcoming events that were published most recently. Only the next event of
/// each series is included.
pub async fn announced(
    state: &State,
    request: &PageRequest,
    events: i64,
) -> Result<Announcements, Error> {
    let mut pairs = first_pairs(state, request, events);
    let order = [("orderby", "date"), ("order", "desc"), ("collapse", "series")];
    pairs.extend(order.map(|(name, text)| (name, text.to_owned())));
    let (calendar, list) = listing(state, request, move |context| {
        Ok((imported::calendar_id(context.db)?, pairs.clone()))
    })
    .await?;
    let cards = || list.groups.iter().flat_map(|group| &group.cards);
    let ids: Vec<i64> = cards().filter_map(|card| card.series).collect();
    let alone = cards().filter(|card| card.series.is_none());
    let alone: Vec<i64> = alone.map(|card| card.id).collect();
    read(state, request.of(&[]), move |context, _| {
        let zone = &context.site.settings.site_timezone;
        // Events leave the list at the end of their last day.
        let today = zone.wall(context.now).date().to_datetime(Time::midnight());
        let today = zone.instant(today).map_or(0, Timestamp::as_second);
        Ok(Announcements {
            calendar,
            list,
            series: series_origins::announced(context.db, &ids, context.now.as_second())?,
            left: series_origins::begun_with(context.db, &alone)?,
            updated_utc: series_origins::last_change(context.db)?.max(today),
        })
    })
    .await
}

fn first_pairs(state: &State, request: &PageRequest, events: i64) -> ListParameters {
    let mut pairs = PageQuery { is_past: false, ..request.query.clone() }.list();
    pairs.push(("per_page", events.min(state.site.settings.per_page_max).to_string()));
    pairs
}

/// Reads the current and upcoming events, or the events in a period, with the requested filters.
pub async fn list_page(state: &State, request: &PageRequest) -> Result<(Choices, ListView), Error> {
    let query = request.query.clone();
    listing(state, request, move |context| {
        let mut choices = |taxonomy, chosen: &str| {
            let terms = term_choices::most_used(context.db, taxonomy, CHOICES)?;
            let choice = |term: term_choices::TermChoice| {
                let chosen = term.slug == chosen;
                Choice { text: term.name, value: term.slug, chosen }
            };
            let mut choices: Vec<Choice> = terms.into_iter().map(choice).collect();
            if !chosen.is_empty() && !choices.iter().any(|choice| choice.chosen) {
                let value = chosen.to_owned();
                choices.push(Choice { text: value.clone(), value, chosen: true });
            }
            Ok::<_, Error>(choices)
        };
        let categories = choices(Taxonomy::Category, &query.category)?;
        let tags = choices(Taxonomy::Tag, &query.tag)?;
        let mut pairs = query.list();
        if query.period.is_some() {
            pairs.push(("per_page", context.site.settings.per_page_max.to_string()));
        }
        Ok((Choices { categories, tags }, pairs))
    })
    .await
}
