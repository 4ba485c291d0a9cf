//! Manages alerts, i.e. searches saved by a key.

use auth::Key;
use outbound::{WebhookSecret, web_url};
use shell::Fault;
use shell::params::{Input, read_validated};

use crate::engine::GramCondition;
use crate::error::Error;
use crate::model::file_query::Matching;
use crate::model::package::{Capability, Package};
use crate::state::{Snapshot, State};
use crate::store::alerts::{self, Alert, AlertContent, Mark};
use crate::wire::RULES;
use crate::wire::alerts::{AlertBody, AlertRecord, AlertsAnswer, AlertsMeta};
use crate::wire::files::{FileParameters, FileSearch};

/// Maximum size of a compiled expression, in bytes. This is small because every load checks its new
/// files against all alerts.
const LARGEST_EXPRESSION: usize = 256 << 10;

/// Parses the query string of a saved search. `start` is always reset to 0.
pub fn saved_search(query: &str) -> Result<FileSearch, Error> {
    let input = Input::query(query);
    let read = read_validated::<FileParameters>(&input, &RULES).into_result();
    let parameters = read.map_err(|violations| Error::Fault(Fault::InvalidQuery(violations)))?;
    let mut search = FileSearch::try_from(parameters)?;
    search.echo.start = 0;
    Ok(search)
}

/// Parses a search and checks that it can be saved. At least one of its conditions must be usable
/// as a lookup key for new files.
fn checked_search(query: &str) -> Result<FileSearch, Error> {
    let search = saved_search(query)?;
    if Input::query(query).text("access_token", &RULES).is_some() {
        return Err(Error::parameter("query", "query must not contain access_token"));
    }
    if search.scrolling {
        return Err(Error::parameter("query", "query must not scroll"));
    }
    let is_narrow = !search.echo.buckets.is_empty() || !search.echo.extensions.is_empty();
    let has_key = match &search.query.matching {
        Matching::All => false,
        Matching::Words(keywords) => !keywords.include.is_empty(),
        Matching::Expression(expression) => {
            if expression.whole().memory_usage() > LARGEST_EXPRESSION {
                let why = "the expression is too large for an alert";
                return Err(Error::Regexp(why.to_owned()));
            }
            let has_text = GramCondition::of(expression.hir()).is_some();
            if !has_text && !is_narrow {
                let why = "an alert requires buckets, extensions, or an expression whose matches \
                           all contain three known characters in a row";
                return Err(Error::Regexp(why.to_owned()));
            }
            has_text
        }
    };
    if has_key || is_narrow {
        Ok(search)
    } else {
        Err(Error::parameter("query", "query must have keywords, buckets or extensions"))
    }
}

/// Returns the key's package, or an error if it doesn't include alerts.
pub(super) fn permitted(state: &State, key: &Key) -> Result<Package, Error> {
    let snapshot = state.snapshot();
    let package = snapshot.package(plan_of(key));
    if package.allows(Capability::Alerts) {
        return Ok(package);
    }
    Err(package_error(&snapshot, "alerts", Capability::Alerts))
}

fn package_error(snapshot: &Snapshot, name: &'static str, need: Capability) -> Error {
    let cheapest = snapshot.cheapest_with(need);
    let package = cheapest.map_or("enterprise", |found| found.code.as_str()).to_owned();
    Error::Package { name, package }
}

pub(super) fn plan_of(key: &Key) -> Option<&str> {
    key.plan.as_ref().map(|plan| plan.code.as_str())
}

/// Returns a mark just past a snapshot's newest file.
pub(super) fn end_of(snapshot: &Snapshot) -> Mark {
    let id = snapshot.summary.journal.published_id() as i64;
    Mark { generation: i64::from(snapshot.generation), id }
}

/// Returns the alert if it belongs to this key. Other keys' alerts are reported as not found.
pub(super) fn own(found: Option<Alert>, key: i64) -> Result<Alert, Error> {
    found.filter(|alert| alert.key_id == key).ok_or(Error::Fault(Fault::NotFound))
}

/// Converts an alert to its wire format. A webhook's secret is only shown when the secret is
/// created.
fn alert_record(alert: Alert, shows_secret: bool) -> AlertRecord {
    AlertRecord {
        id: alert.id,
        name: alert.name,
        query: alert.query,
        webhook: alert.webhook,
        secret: alert.secret.filter(|_| shows_secret),
        created_at: alert.created_at,
    }
}

/// Lists the key's alerts.
pub async fn list_alerts(state: &State, key: &Key) -> Result<AlertsAnswer, Error> {
    let package = permitted(state, key)?;
    let id = key.id;
    let own = state.pools().read(move |db| alerts::of_key(db, id)).await?;
    let alerts: Vec<AlertRecord> =
        own.into_iter().map(|alert| alert_record(alert, false)).collect();
    let meta = AlertsMeta { results: alerts.len() as u64, limit: package.alerts };
    Ok(AlertsAnswer { meta, alerts })
}

/// Returns one of the key's alerts.
pub async fn get_alert(state: &State, key: &Key, id: i64) -> Result<AlertRecord, Error> {
    permitted(state, key)?;
    let found = state.pools().read(move |db| alerts::by_id(db, id)).await?;
    Ok(alert_record(own(found, key.id)?, false))
}

/// Validates a request body. The webhook's secret is left for the caller to fill in.
fn checked(state: &State, package: &Package, body: AlertBody) -> Result<AlertContent, Error> {
    let AlertBody { name, query, webhook } = body;
    let query = query.strip_prefix('?').unwrap_or(&query).to_owned();
    let search = checked_search(&query)?;
    if let Some((name, need)) = search.needs.iter().find(|(_, need)| !package.allows(*need)) {
        return Err(package_error(&state.snapshot(), name, *need));
    }
    if [&name, &query].into_iter().any(|text| text.contains('\0')) {
        return Err(Error::parameter("name", "name and query must not contain a NUL"));
    }
    let webhook = webhook.filter(|url| !url.is_empty());
    let reach = state.settings().webhook_reach();
    // The URL parser silently drops line breaks and tabs.
    let is_plain = |url: &str| !url.contains(|c: char| c.is_whitespace() || c.is_control());
    let may_call =
        |url: &String| is_plain(url) && web_url(url).is_some_and(|url| reach.may_name(&url));
    if webhook.as_ref().is_some_and(|url| !may_call(url)) {
        return Err(Error::parameter("webhook", "webhook must be a public http or https URL"));
    }
    Ok(AlertContent { name, query, webhook, secret: None })
}

fn new_secret() -> Result<String, Error> {
    let secret = WebhookSecret::generate();
    Ok(secret.map_err(|error| Error::Internal(error.to_string()))?.text())
}

/// Saves a search as an alert. Files already in the index don't count as new.
pub async fn add_alert(state: &State, key: &Key, body: AlertBody) -> Result<AlertRecord, Error> {
    let package = permitted(state, key)?;
    let mut content = checked(state, &package, body)?;
    content.secret = content.webhook.as_ref().map(|_| new_secret()).transpose()?;
    let (since, now, key_id) = (end_of(&state.snapshot()), state.clock().unix(), key.id);
    let added = state.pools().write_as(Some(&key.owner), move |db| -> Result<Alert, Error> {
        auth::lock_key(db, key_id)?;
        let count = alerts::of_key(db, key_id)?.len() as u64;
        if count >= package.alerts {
            let most = package.alerts;
            return Err(Error::Conflict(format!("the key has {count} of {most} alerts")));
        }
        let id = alerts::add(db, key_id, &content, since, now)?;
        own(alerts::by_id(db, id)?, key_id)
    });
    Ok(alert_record(added.await?, true))
}

/// Replaces an alert. If its search changes, only files that are added from now on count as new. If
/// its webhook changes, it gets a new secret. In both cases, undelivered messages are dropped, so
/// that the new receiver never gets files from the old search.
pub async fn put_alert(
    state: &State,
    key: &Key,
    id: i64,
    body: AlertBody,
) -> Result<AlertRecord, Error> {
    let package = permitted(state, key)?;
    let (now, key_id) = (end_of(&state.snapshot()), key.id);
    let found = state.pools().read(move |db| alerts::by_id(db, id)).await?;
    own(found, key_id)?;
    let mut content = checked(state, &package, body)?;
    let secret = new_secret()?;
    let changed = state.pools().write_as(Some(&key.owner), move |db| -> Result<_, Error> {
        let old = own(alerts::by_id(db, id)?, key_id)?;
        let is_new = content.webhook.is_some() && content.webhook != old.webhook;
        content.secret = if is_new { Some(secret) } else { old.secret.clone() };
        content.secret = content.secret.filter(|_| content.webhook.is_some());
        let is_same_search = content.query == old.query;
        let since = if is_same_search { old.since() } else { now };
        alerts::change(db, id, &content, since)?;
        if !is_same_search || content.webhook != old.webhook {
            alerts::restart_messages(db, id)?;
        }
        Ok((own(alerts::by_id(db, id)?, key_id)?, is_new))
    });
    let (alert, is_new) = changed.await?;
    Ok(alert_record(alert, is_new))
}

/// Deletes an alert together with its queued messages.
pub async fn remove_alert(state: &State, key: &Key, id: i64) -> Result<(), Error> {
    permitted(state, key)?;
    let key_id = key.id;
    let removed = state.pools().write_as(Some(&key.owner), move |db| -> Result<(), Error> {
        own(alerts::by_id(db, id)?, key_id)?;
        Ok(alerts::remove(db, id)?)
    });
    removed.await
}
