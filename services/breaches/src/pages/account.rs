//! Subscriber settings: notices, plan, API key and webhooks.

use askama::Template;

use super::breach::grouped;
use super::frame::Frame;
use crate::app::{OwnKey, OwnPlan, OwnWebhook};
use crate::model::instant;
use crate::model::plan::{Family, UNLIMITED};

/// A subscriber's plan, ready for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanView {
    pub name: String,
    /// One-sentence summary of the plan.
    pub description: String,
    /// Last day of the subscription.
    pub until: Option<String>,
    /// Searches per minute, with thousands separators.
    pub per_minute: String,
    /// Whether the plan comes with an API key.
    pub has_key: bool,
    /// Size of the largest domain that can be searched.
    pub max_size: String,
    /// Number of large domains the plan covers.
    pub max_domains: String,
    /// Number of large domains the subscriber has.
    pub larger_domains: String,
}

impl From<OwnPlan> for PlanView {
    fn from(own: OwnPlan) -> Self {
        let features = own.plan.features;
        let max_size = match features.max_domain_size {
            UNLIMITED => "any size".to_owned(),
            size => format!("{} breached addresses", grouped(i64::from(size))),
        };
        Self {
            name: own.plan.name,
            description: features.description,
            until: own.until.map(instant::last_day),
            per_minute: grouped(i64::from(own.plan.per_minute)),
            has_key: features.family != Family::Free,
            max_size,
            max_domains: grouped(i64::from(features.max_domains)),
            larger_domains: grouped(i64::try_from(own.larger_domains).unwrap_or(i64::MAX)),
        }
    }
}

/// Turns notices on and off.
#[derive(Template)]
#[template(path = "notifications.html")]
pub struct NotificationsPage {
    pub frame: Frame,
    pub notify: bool,
    /// Verified domains with emails turned off.
    pub silent: Vec<String>,
}

/// The plan and its limits.
#[derive(Template)]
#[template(path = "subscription.html")]
pub struct SubscriptionPage {
    pub frame: Frame,
    pub plan: PlanView,
}

/// The API key.
#[derive(Template)]
#[template(path = "key.html")]
pub struct KeyPage<'a> {
    pub frame: Frame,
    pub key: &'a OwnKey,
    pub issued: Option<&'a str>,
    pub header: &'a str,
}

impl KeyPage<'_> {
    fn date(&self, seconds: &i64) -> String {
        instant::date(*seconds)
    }
}

/// The list of webhooks, with a form to add one.
#[derive(Template)]
#[template(path = "webhooks.html")]
pub struct WebhooksPage<'a> {
    pub frame: Frame,
    pub webhooks: &'a [OwnWebhook],
    pub url: &'a str,
    pub secret: Option<&'a str>,
    pub error: Option<&'a str>,
}

impl WebhooksPage<'_> {
    fn date(&self, seconds: &i64) -> String {
        instant::date(*seconds)
    }
}
