//! Decodes subscription writes.

use super::names::{Input, Known, Names};
use super::parameter_errors::ParameterErrors;
use super::parameters::{ReleaseFields, SubscribedEventParameters, SubscriptionFields};
use super::params::Params;
use super::reading::{Errors, read_parameters};
use super::values::boolean;
use crate::model::list::Paging;
use crate::model::remote_address::{has_login, requested_url, webcal_urls};
use crate::model::subscription::{LONGEST_INTERVAL, LONGEST_URL, PlanChange, Release, STATUSES};
use crate::model::subscription_parts::{Part, Parts};
use crate::model::urls::Urls;

/// A subscription write.
pub struct SubscriptionInput {
    given: SubscriptionFields,
    errors: Errors,
}

impl Input for SubscriptionInput {
    fn names(&self, _: &Urls) -> Names {
        let mut names = Names::default();
        names.users.extend(self.given.author.as_ref().map(|id| id.0));
        names.venues.extend(self.given.venue.as_ref().map(|id| id.0));
        names.categories.ids.extend(self.given.category.as_ref().map(|id| id.0));
        names
    }
}

impl SubscriptionInput {
    /// Reads the parameters. If `creating` is set, a URL is required.
    pub fn read(params: &Params, creating: bool) -> SubscriptionInput {
        let (given, mut errors) = read_parameters::<SubscriptionFields>(params);
        if creating {
            errors.require(params);
        }
        SubscriptionInput { given, errors }
    }

    /// Decodes the request. `least` is the minimum interval in minutes.
    ///
    /// # Errors
    /// Returns all missing or invalid parameters.
    pub fn decode(
        self,
        known: &Known,
        least: i64,
        may_name: impl Fn(&str) -> bool,
    ) -> Result<PlanChange, ParameterErrors> {
        let SubscriptionInput { given, mut errors } = self;
        let e = &mut errors;
        let url = given.url.map(|url| requested_url(&url.0));
        if let Some(url) = &url {
            if url.chars().count() > LONGEST_URL {
                e.fail("url", format!("must have at most {LONGEST_URL} characters"));
            } else if has_login(url) {
                e.fail("url", "must not have a user name or a password");
            } else if !webcal_urls(url).map_or_else(|| may_name(url), |[one, _]| may_name(&one)) {
                e.fail("url", "must be an http, https or webcal address on a public host");
            }
        }
        let interval = given.interval.map(|minutes| minutes.0);
        if interval.is_some_and(|minutes| !(least..=LONGEST_INTERVAL).contains(&minutes)) {
            e.fail("interval", format!("must be {least} to {LONGEST_INTERVAL} minutes"));
        }
        let author = given.author.map(|id| id.0);
        if author.is_some_and(|id| !known.users.contains(&id)) {
            e.fail("author", "must be the id of a user");
        }
        let status = given.status.map(|status| status.0.as_str().to_owned());
        if status.as_ref().is_some_and(|status| !STATUSES.contains(&status.as_str())) {
            e.fail("status", "must be publish, draft, pending or private");
        }
        let category = given.category.map(|id| id.0);
        if category.is_some_and(|id| id != 0 && !known.categories.ids.contains(&id)) {
            e.fail("category", "must be the id of a category, or 0");
        }
        let venue = given.venue.map(|id| id.0);
        if venue.is_some_and(|id| id != 0 && !known.venues.contains(&id)) {
            e.fail("venue", "must be the id of a venue, or 0");
        }
        let some = |id: i64| (id != 0).then_some(id);
        errors.finish(PlanChange {
            url,
            interval,
            author,
            status,
            category: category.map(some),
            venue: venue.map(some),
            adopts: given.adopt.map(|flag| flag.0),
        })
    }
}

/// Decodes which user edits to release: fields of an event, or the end of a series.
///
/// # Errors
/// Returns all missing or invalid parameters.
pub fn release(params: &Params) -> Result<Release, ParameterErrors> {
    let (given, mut errors) = read_parameters::<ReleaseFields>(params);
    match (&given.event, &given.uid) {
        (Some(_), Some(_)) => errors.fail("uid", "must not be sent together with event"),
        (None, None) => errors.fail("event", "must be the id of an event, unless uid is sent"),
        _ => {}
    }
    let names = given.fields.map(|texts| texts.0);
    let parts: Option<Vec<Part>> = match names.as_deref() {
        None | Some([]) => Some(Part::ALL.to_vec()),
        Some(names) => names.iter().map(|name| Part::named(name)).collect(),
    };
    if parts.is_none() {
        let all = Parts::of(Part::ALL).names().join(", ");
        errors.fail("fields", format!("must be a list of these: {all}"));
    }
    let event = given.event.map_or(0, |id| id.0);
    let parts = Parts::of(parts.unwrap_or_default());
    let series = given.uid.map(|uid| Release::Series(uid.0));
    errors.finish(series.unwrap_or(Release::Event(event, parts)))
}

/// Returns whether to trash a subscription's events when removing it.
///
/// # Errors
/// Returns an error if `events` is not a boolean.
pub fn removes_events(params: &Params) -> Result<bool, ParameterErrors> {
    match params.get("events") {
        Some(events) => {
            boolean(events).ok_or_else(|| ParameterErrors::one("events", "must be true or false"))
        }
        None => Ok(false),
    }
}

/// Decodes a query for a subscription's events. Returns whether to list only changed events, and
/// the requested page.
///
/// # Errors
/// Returns all invalid parameters.
pub fn listed_events(
    params: &Params,
    (per_page, most): (i64, i64),
) -> Result<(bool, Paging), ParameterErrors> {
    let (given, errors) = read_parameters::<SubscribedEventParameters>(params);
    let per_page = given.per_page.map_or(per_page, |rows| rows.0).min(most);
    let paging = Paging { page: given.page.map_or(1, |page| page.0), per_page };
    errors.finish((given.changed.is_some_and(|flag| flag.0), paging))
}
