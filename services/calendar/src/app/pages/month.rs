//! The month page.

use super::super::interrupt::ListInterrupt;
use super::super::list_permit::ListPermit;
use super::super::transactions::read_list;
use super::calendars::kept_since;
use super::listing::PageRequest;
use crate::error::Error;
use crate::model::html;
use crate::model::month::{DAY, Month, midnight};
use crate::state::State;
use crate::store::event_index::IndexAccess;
use crate::store::months::{self, Days};
use crate::store::read_transactions::read_transaction;
use crate::store::{event_list, event_statuses};
use crate::wire::list_input::EventListInput;
use crate::wire::pages::month::{self, MonthRows, MonthView, SHOWN};
use crate::wire::pages::query::PageQuery;

/// Maximum number of events to read for a month if they last a day or longer.
const LASTING: usize = 200;

/// Reads a month, by default the current one. Also counts the events in the calendar subscription
/// offered on its page.
pub async fn month_page(
    state: &State,
    request: &PageRequest,
    month: Option<Month>,
) -> Result<(MonthView, i64), Error> {
    let subscription = PageQuery::default().subscription(kept_since(state));
    let permit = ListPermit::acquire(state, &request.of(&subscription)).await?;
    let read = |permit: ListPermit| {
        let index = state.index.clone();
        read_list(state, request.of(&subscription), move |context, params| {
            let today = context.site.settings.site_timezone.wall(context.now).date();
            let month = month.unwrap_or_else(|| Month::of(today));
            let (first, last) = (midnight(month.first()), midnight(month.last()));
            let midnights: Vec<i64> = month.days().into_iter().map(midnight).collect();
            let end = last + DAY;
            let mut rows = read_transaction(context.db, |db| {
                let lasting = months::lasting(db, (first, end - 1), LASTING)?;
                let Days { first, starts, overnight } =
                    months::days(db, &index, &midnights, SHOWN)?;
                let rows = MonthRows { month, today, first, lasting, starts, overnight };
                Ok::<_, ListInterrupt>(rows)
            })?;
            let ids: Vec<i64> = rows.first.iter().chain(&rows.lasting).map(|one| one.id).collect();
            let words = context.language().words();
            let statuses = event_statuses::of_events(context.db, &ids)?;
            for entry in rows.first.iter_mut().chain(&mut rows.lasting) {
                entry.title = html::plain(&entry.title);
                if let Some(status) = statuses.get(&entry.id) {
                    let status = status.occurring.word(words);
                    entry.title = (words.status_and_title)(status, &entry.title);
                }
            }
            let list = context.decode_list(EventListInput::read(params), EventListInput::decode)?;
            let access = IndexAccess { index: &index, deadline: permit.deadline };
            let subscribed = event_list::total(context.db, access, &list.filter)?;
            Ok((month::month(&rows, &context.urls.relative(), context.language()), subscribed))
        })
    };
    Ok(permit.read(state, read).await?.list)
}
