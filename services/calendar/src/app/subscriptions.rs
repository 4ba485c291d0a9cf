//! Use cases for subscriptions to other calendars.

use database::Db;
use outbound::web_url;

use super::context::RequestContext;
use super::interrupt::Interrupt;
use super::request::Request;
use super::transactions::{read, write};
use crate::error::Error;
use crate::model::remote_address::similar_urls;
use crate::model::role::{Action, User};
use crate::model::series_ids::occurrence_of;
use crate::model::subscription::{
    MAX_SUBSCRIPTIONS, Plan, PlanChange, Release, STATUSES, Subscription, SubscriptionState,
    USUAL_INTERVAL,
};
use crate::model::subscription_parts::{Part, Parts};
use crate::state::State;
use crate::store::{subscribed_events, subscriptions};
use crate::wire::dates::written;
use crate::wire::envelope::list_meta;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;
use crate::wire::subscription::{
    SubscribedEventJson, SubscribedEventListJson, SubscriptionJson, SubscriptionListJson,
};
use crate::wire::subscription_input::{
    SubscriptionInput, listed_events, release as decode_release, removes_events,
};

/// An action that changes a subscription's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Stop running it.
    Pause,
    /// Start running it again, beginning right now.
    Resume,
    /// Run it right now.
    Run,
    /// Run it right now, and trash the missing events even if they are more than half of all future
    /// events, unless more events have gone missing since.
    Accept,
}

fn unfit(text: &str) -> Error {
    ParameterErrors::one("id", text).into()
}

fn require(db: &mut Db, id: i64) -> Result<Subscription, Error> {
    let found = subscriptions::find(db, id)?;
    let found = found.ok_or_else(|| unfit("must be the id of a subscription"))?;
    match found.state {
        SubscriptionState::Removing => {
            Err(unfit("belongs to a subscription that is being removed"))
        }
        _ => Ok(found),
    }
}

/// Renders a subscription.
pub fn show(db: &mut Db, id: i64, now: i64) -> Result<SubscriptionJson, Error> {
    let found = subscriptions::find(db, id)?;
    let found = found.ok_or_else(|| unfit("must be the id of a subscription"))?;
    let counts = subscribed_events::counts(db, id)?;
    Ok(SubscriptionJson::new(found, counts, now))
}

/// Renders all subscriptions.
pub fn show_all(db: &mut Db, now: i64) -> Result<Vec<SubscriptionJson>, Error> {
    let mut shown = Vec::new();
    for subscription in subscriptions::all(db)? {
        let counts = subscribed_events::counts(db, subscription.id)?;
        shown.push(SubscriptionJson::new(subscription, counts, now).without_messages());
    }
    Ok(shown)
}

/// Returns whether a subscription is allowed to use this URL.
fn may_name(state: &State, url: &str) -> bool {
    let reach = state.site.settings.subscription_reach();
    web_url(url).is_some_and(|url| reach.may_name(&url))
}

/// Decodes the body of a write request.
pub fn decode(
    state: &State,
    context: &mut RequestContext<'_>,
    user: &User,
    params: &Params,
    creating: bool,
) -> Result<PlanChange, Error> {
    let least = state.site.settings.subscription_interval_min;
    let input = SubscriptionInput::read(params, creating);
    context.decode_write(user, input, |input, known, _| {
        input.decode(known, least, |url| may_name(state, url))
    })
}

/// Adds a subscription and runs it immediately. The author defaults to `user`. Returns the id.
pub fn add(
    db: &mut Db,
    (state, user): (&State, &User),
    change: PlanChange,
    now: i64,
) -> Result<i64, Error> {
    if subscriptions::all(db)?.len() >= MAX_SUBSCRIPTIONS {
        let text =
            format!("cannot be added: the maximum of {MAX_SUBSCRIPTIONS} subscriptions is reached");
        return Err(ParameterErrors::one("url", &text).into());
    }
    let mut plan = Plan {
        url: String::new(),
        interval: USUAL_INTERVAL.max(state.site.settings.subscription_interval_min),
        author: user.id,
        status: STATUSES[0].to_owned(),
        category: None,
        venue: None,
        adopts: false,
    };
    change.apply(&mut plan);
    check_url(db, &plan.url, None)?;
    Ok(subscriptions::add(db, &plan, now)?)
}

/// Fails if another subscription already uses this URL.
fn check_url(db: &mut Db, url: &str, own: Option<i64>) -> Result<(), Error> {
    for url in similar_urls(url) {
        if let Some(id) = subscriptions::id_of_url(db, &url)?
            && Some(id) != own
        {
            let text = format!("must not be the address of subscription {id}");
            return Err(ParameterErrors::one("url", &text).into());
        }
    }
    Ok(())
}

/// Changes a subscription's settings.
pub fn change(db: &mut Db, id: i64, change: PlanChange, now: i64) -> Result<(), Error> {
    let old = require(db, id)?;
    let mut plan = old.plan.clone();
    change.apply(&mut plan);
    if plan == old.plan {
        return Ok(());
    }
    check_url(db, &plan.url, Some(id))?;
    subscriptions::change(db, id, &plan)?;
    if plan.url != old.plan.url {
        subscriptions::forget_address(db, id)?;
    }
    // A run in progress still uses the old settings.
    subscriptions::forget_file(db, id)?;
    let next = match plan.url == old.plan.url {
        true => old.next_utc.min(now + plan.interval * 60),
        false => now,
    };
    Ok(subscriptions::make_due(db, id, next)?)
}

/// Changes a subscription's state.
pub fn step(db: &mut Db, id: i64, step: Step, now: i64) -> Result<(), Error> {
    let found = require(db, id)?;
    match step {
        Step::Pause => {
            subscriptions::accept_loss(db, id, 0)?;
            return Ok(subscriptions::set_state(db, id, SubscriptionState::Paused)?);
        }
        Step::Run if found.state != SubscriptionState::Active => {
            return Err(unfit("belongs to a subscription that is not running: resume it first"));
        }
        Step::Accept if !found.awaits_acceptance() => {
            return Err(unfit("belongs to a subscription that has nothing to accept"));
        }
        Step::Accept => {
            let lost = i64::try_from(found.lost()).unwrap_or(i64::MAX);
            subscriptions::accept_loss(db, id, lost)?;
        }
        Step::Run | Step::Resume => {}
    }
    if found.state != SubscriptionState::Active {
        subscriptions::set_state(db, id, SubscriptionState::Active)?;
    }
    Ok(subscriptions::make_due(db, id, now)?)
}

/// Releases user edits, so that the next run overwrites them.
pub fn release(db: &mut Db, id: i64, target: &Release, now: i64) -> Result<(), Error> {
    let found = require(db, id)?;
    let is_released = match target {
        Release::Event(event, parts) => release_parts(db, id, (*event, parts))?,
        Release::Series(uid) if subscribed_events::forget_ends(db, id, uid)? => true,
        Release::Series(_) => {
            let text = "must be the UID of a series that ended because users erased its last dates";
            return Err(ParameterErrors::one("uid", text).into());
        }
    };
    if !is_released {
        return Ok(());
    }
    // Make the next run read the file even if it has not changed.
    subscriptions::forget_file(db, id)?;
    match found.state {
        SubscriptionState::Active => Ok(subscriptions::make_due(db, id, now)?),
        _ => Ok(()),
    }
}

/// Releases fields of an event. If this includes its dates, erased occurrences no longer end the
/// series. Returns whether anything changed.
fn release_parts(db: &mut Db, id: i64, (event, parts): (i64, &Parts)) -> Result<bool, Error> {
    let known = subscribed_events::of_event(db, event)?.filter(|known| known.subscription == id);
    let Some(known) = known else {
        let text = "must be the id of an event in the subscription";
        return Err(ParameterErrors::one("event", text).into());
    };
    let uid = occurrence_of(&known.name).map_or(&*known.name, |(uid, _)| uid);
    let had_end = parts.has(Part::Dates) && subscribed_events::forget_ends(db, id, uid)?;
    let changed = known.changed.without(parts);
    let is_changing = changed != known.changed;
    if is_changing {
        subscribed_events::set_changed(db, event, &changed)?;
    }
    Ok(is_changing || had_end)
}

/// Removes a subscription. Its events are kept, unless `with_events` is set. In that case, the next
/// run trashes them and then removes the subscription.
pub fn remove(db: &mut Db, id: i64, with_events: bool, now: i64) -> Result<(), Error> {
    require(db, id)?;
    if !with_events {
        return Ok(subscriptions::remove(db, id)?);
    }
    subscriptions::set_state(db, id, SubscriptionState::Removing)?;
    Ok(subscriptions::make_due(db, id, now)?)
}

/// Lists all subscriptions.
pub async fn list(state: &State, request: Request) -> Result<SubscriptionListJson, Error> {
    read(state, request, |context, _| {
        context.permit(Action::Subscriptions)?;
        let subscriptions = show_all(context.db, context.now.as_second())?;
        Ok(SubscriptionListJson { subscriptions })
    })
    .await
}

/// Reads a subscription.
pub async fn find(state: &State, request: Request, id: i64) -> Result<SubscriptionJson, Error> {
    read(state, request, move |context, _| {
        context.permit(Action::Subscriptions)?;
        show(context.db, id, context.now.as_second())
    })
    .await
}

/// Runs a write transaction, then returns the updated subscription.
async fn written_by<F>(state: &State, request: Request, work: F) -> Result<SubscriptionJson, Error>
where
    F: Fn(&mut RequestContext<'_>, &Params) -> Result<i64, Error> + Send + Sync + 'static,
{
    write(state, request, Action::Subscriptions, move |context, params| {
        let id = work(context, params)?;
        Ok::<_, Interrupt>(show(context.db, id, context.now.as_second())?)
    })
    .await
}

/// Adds a subscription.
pub async fn create(state: &State, request: Request) -> Result<SubscriptionJson, Error> {
    let own = state.clone();
    written_by(state, request, move |context, params| {
        let user = context.user()?;
        let change = decode(&own, context, &user, params, true)?;
        add(context.db, (&own, &user), change, context.now.as_second())
    })
    .await
}

/// Changes some of a subscription's settings.
pub async fn update(state: &State, request: Request, id: i64) -> Result<SubscriptionJson, Error> {
    let own = state.clone();
    written_by(state, request, move |context, params| {
        let user = context.user()?;
        let plan = decode(&own, context, &user, params, false)?;
        change(context.db, id, plan, context.now.as_second())?;
        Ok(id)
    })
    .await
}

/// Pauses, resumes or runs a subscription, or accepts its file.
pub async fn take_step(
    state: &State,
    request: Request,
    id: i64,
    taken: Step,
) -> Result<SubscriptionJson, Error> {
    written_by(state, request, move |context, _| {
        step(context.db, id, taken, context.now.as_second())?;
        Ok(id)
    })
    .await
}

/// Releases an event that a user has changed, or a series that users ended.
pub async fn release_event(
    state: &State,
    request: Request,
    id: i64,
) -> Result<SubscriptionJson, Error> {
    written_by(state, request, move |context, params| {
        release(context.db, id, &decode_release(params)?, context.now.as_second())?;
        Ok(id)
    })
    .await
}

/// Removes a subscription. Returns its last state.
pub async fn delete(state: &State, request: Request, id: i64) -> Result<SubscriptionJson, Error> {
    write(state, request, Action::Subscriptions, move |context, params| {
        let with_events = removes_events(params)?;
        let now = context.now.as_second();
        let before = show(context.db, id, now)?;
        remove(context.db, id, with_events, now)?;
        match with_events {
            true => Ok(show(context.db, id, now)?),
            false => Ok::<_, Interrupt>(before),
        }
    })
    .await
}

/// Lists a subscription's events.
pub async fn events(
    state: &State,
    request: Request,
    id: i64,
) -> Result<SubscribedEventListJson, Error> {
    let limits = (state.site.settings.per_page, state.site.settings.per_page_max);
    read(state, request, move |context, params| {
        context.permit(Action::Subscriptions)?;
        show(context.db, id, context.now.as_second())?;
        let (only_changed, paging) = listed_events(params, limits)?;
        let (rows, total) = subscribed_events::page(context.db, id, only_changed, paging)?;
        if rows.is_empty() && paging.page > 1 {
            return Err(Error::NoSuchPage("event"));
        }
        let shown = |row: subscribed_events::ListedEvent| SubscribedEventJson {
            id: row.id,
            title: row.title,
            status: row.status,
            start_date: written(row.start_local),
            uid: row.name,
            changed: Parts::stored(&row.changed).names(),
            vanished: row.vanished == 1,
        };
        let events = rows.into_iter().map(shown).collect();
        let mut query = vec![("per_page".to_owned(), paging.per_page.to_string())];
        if only_changed {
            query.push(("changed".to_owned(), "true".to_owned()));
        }
        let collection = format!("{}/events", context.urls.item("subscriptions", id));
        Ok(SubscribedEventListJson { events, meta: list_meta(&collection, paging, &query, total) })
    })
    .await
}
