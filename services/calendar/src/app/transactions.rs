//! Runs a request's database work in either one read or one write transaction.

use std::sync::Arc;

use database::{Backend, DatabaseError, Db, off_worker};
use shell::TraceContext;

use super::context::RequestContext;
use super::images;
use super::interrupt::{Interrupt, ListInterrupt};
use super::request::Request;
use super::write_context::FetchedImages;
use crate::error::Error;
use crate::model::role::{Action, User};
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::read_transactions::read_transaction;
use crate::store::{sql, webhooks};
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;
use crate::wire::sanitized::SanitizedTexts;

/// Maximum number of images to fetch for a single write.
const MAX_FETCHED_IMAGES: usize = 10;

/// Runs a request's reads on one connection.
///
/// On SQLite, all reads see the same snapshot. On PostgreSQL, a transaction would take two
/// additional round trips. Most requests only run a single statement there, and list requests that
/// run several open a read transaction themselves.
pub async fn read<T, F>(state: &State, request: Request, work: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: FnOnce(&mut RequestContext<'_>, &Params) -> Result<T, Error> + Send + 'static,
{
    read_with(state, request, work).await
}

/// Like [`read`], for lists.
pub async fn read_list<T, F>(state: &State, request: Request, work: F) -> Result<T, ListInterrupt>
where
    T: Send + 'static,
    F: FnOnce(&mut RequestContext<'_>, &Params) -> Result<T, ListInterrupt> + Send + 'static,
{
    read_with(state, request, work).await
}

async fn read_with<T, E, F>(state: &State, request: Request, work: F) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Error> + From<DatabaseError> + Send + 'static,
    F: FnOnce(&mut RequestContext<'_>, &Params) -> Result<T, E> + Send + 'static,
{
    let (site, now) = (state.site.clone(), state.clock.now());
    let perform = move |db: &mut Db| {
        let actor = RequestContext::actor(db, request.login.as_deref())?;
        let params = request.params?;
        let sanitized = &SanitizedTexts::default();
        let urls = request.urls;
        let mut context = RequestContext {
            db,
            actor,
            site: &site,
            urls,
            now,
            fetched: None,
            wanted_id: None,
            sanitized,
            if_match: None,
        };
        work(&mut context, &params)
    };
    state
        .pools
        .read(|db| match db.backend() {
            Backend::Sqlite => read_transaction(db, perform),
            Backend::Postgres => perform(db),
        })
        .await
}

/// Runs a request's writes in one transaction. There is only one writer at a time.
///
/// A transaction never waits for the network. If the request needs an image, the transaction is
/// rolled back, the image is fetched, and the work starts over. That way, nothing is fetched for
/// requests that aren't permitted or have invalid fields.
pub async fn write<T, F>(
    state: &State,
    request: Request,
    action: Action,
    work: F,
) -> Result<T, Error>
where
    T: Send + 'static,
    F: Fn(&mut RequestContext<'_>, &Params) -> Result<T, Interrupt> + Send + Sync + 'static,
{
    let Request { login, params, urls, if_match } = request;
    let params = match params {
        Ok(params) => params,
        Err(error) => {
            let params = Ok(Params::default());
            let request = Request { login, params, urls, if_match };
            read(state, request, move |context, _| context.permit(action)).await?;
            return Err(error);
        }
    };
    let sanitized = match &login {
        // An anonymous write fails before any of its strings are looked at.
        None => SanitizedTexts::default(),
        Some(login) => sanitize(state, login, &params).await?,
    };
    let traceparent = TraceContext::current().map(|trace| trace.to_string());
    let attempt = Attempt { login, params, urls, if_match, action, sanitized, traceparent, work };
    let attempt = Arc::new(attempt);
    let mut fetched = state.image_fetcher.as_ref().map(|_| FetchedImages::new());
    loop {
        match attempt.clone().run(state, fetched.clone()).await {
            Ok(value) => return Ok(value),
            Err(Interrupt::Failed(error)) => return Err(error),
            Err(Interrupt::NeedsImage(url)) => {
                let (Some(fetched), Some(fetcher)) = (&mut fetched, &state.image_fetcher) else {
                    return Err(not_fetching());
                };
                if fetched.len() == MAX_FETCHED_IMAGES {
                    let text = "must not name more than ten images";
                    return Err(ParameterErrors::one("image", text).into());
                }
                let trace = attempt.traceparent.as_deref();
                let file = images::fetch(state, fetcher, &url, trace).await?;
                fetched.insert(url, file);
            }
        }
    }
}

fn not_fetching() -> Error {
    Error::Internal("an image is needed, but fetching is disabled".to_owned())
}

/// Runs writes on behalf of a user inside an existing transaction, without an HTTP request. Image
/// URLs are recorded but not fetched.
pub fn with_context<T>(
    state: &State,
    db: &mut Db,
    user: &User,
    params: &Params,
    work: impl FnOnce(&mut RequestContext<'_>) -> T,
) -> T {
    run_as(state, db, (user, None), params, work)
}

/// Like [`with_context`], for an item from a remote site. `their_id` is the item's id on that site.
pub fn with_site_context<T>(
    state: &State,
    db: &mut Db,
    (user, their_id): (&User, i64),
    params: &Params,
    work: impl FnOnce(&mut RequestContext<'_>) -> T,
) -> T {
    run_as(state, db, (user, Some(their_id)), params, work)
}

fn run_as<T>(
    state: &State,
    db: &mut Db,
    (user, wanted_id): (&User, Option<i64>),
    params: &Params,
    work: impl FnOnce(&mut RequestContext<'_>) -> T,
) -> T {
    work(&mut RequestContext {
        db,
        actor: Some(user.clone()),
        site: &state.site,
        urls: Urls::default(),
        now: state.clock.now(),
        fetched: None,
        wanted_id,
        sanitized: &SanitizedTexts::of(SanitizedTexts::sources(params)),
        if_match: None,
    })
}

/// Sanitizes the long strings in a write request before its transaction starts.
async fn sanitize(state: &State, login: &str, params: &Params) -> Result<SanitizedTexts, Error> {
    let sources = SanitizedTexts::sources(params);
    if sources.is_empty() {
        return Ok(SanitizedTexts::default());
    }
    let turn = state.sanitizers.take(Some(login)).await;
    let work = move || {
        let _turn = turn;
        SanitizedTexts::of(sources)
    };
    Ok(off_worker(work).await?)
}

/// A write request that might have to be run more than once.
struct Attempt<F> {
    login: Option<String>,
    params: Params,
    urls: Urls,
    if_match: Option<Vec<String>>,
    action: Action,
    sanitized: SanitizedTexts,
    /// The `traceparent` header for outgoing requests caused by this one.
    traceparent: Option<String>,
    work: F,
}

impl<F> Attempt<F> {
    async fn run<T>(
        self: Arc<Self>,
        state: &State,
        fetched: Option<FetchedImages>,
    ) -> Result<T, Interrupt>
    where
        T: Send + 'static,
        F: Fn(&mut RequestContext<'_>, &Params) -> Result<T, Interrupt> + Send + Sync + 'static,
    {
        let (site, now) = (state.site.clone(), state.clock.now());
        let caller = self.login.clone();
        let work = move |db: &mut Db| {
            sql::one_writer(db)?;
            let actor = RequestContext::actor(db, self.login.as_deref())?;
            let mut context = RequestContext {
                db,
                actor,
                site: &site,
                urls: self.urls.clone(),
                now,
                fetched: fetched.as_ref(),
                wanted_id: None,
                sanitized: &self.sanitized,
                if_match: self.if_match.as_deref(),
            };
            context.permit(self.action)?;
            let Some(traceparent) = &self.traceparent else {
                return (self.work)(&mut context, &self.params);
            };
            let before = webhooks::last_message(context.db)?;
            let written = (self.work)(&mut context, &self.params)?;
            webhooks::trace_after(context.db, before, traceparent)?;
            Ok(written)
        };
        state.pools.write_as(caller.as_deref(), work).await
    }
}
