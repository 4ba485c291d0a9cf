//! A subscriber's domains.

use std::fmt;

use askama::Template;

use super::frame::Frame;
use crate::app::{Captured, DomainDetail, DomainReport, OwnDomain};
use crate::model::verification::EmailAlias;

/// The list of domains, with a form to add one.
#[derive(Template)]
#[template(path = "domains.html")]
pub struct DomainsPage<'a> {
    pub frame: Frame,
    pub domains: &'a [OwnDomain],
    pub name: &'a str,
    pub error: Option<&'a str>,
}

/// The ways to verify a domain.
#[derive(Template)]
#[template(path = "domain_verify.html")]
pub struct VerifyPage<'a> {
    pub frame: Frame,
    pub detail: &'a DomainDetail,
    pub aliases: [EmailAlias; 5],
    pub outcome: Option<Outcome>,
}

/// Outcome of an attempt, displayed below the method that was tried.
pub struct Outcome {
    pub method: &'static str,
    pub good: bool,
    pub text: String,
}

impl VerifyPage<'_> {
    fn of(&self, method: &str) -> Option<&Outcome> {
        self.outcome.as_ref().filter(|outcome| outcome.method == method)
    }
}

/// Asks for confirmation before removing a domain.
#[derive(Template)]
#[template(path = "domain_remove.html")]
pub struct RemovePage<'a> {
    pub frame: Frame,
    pub name: &'a str,
}

/// The breached addresses at a domain.
#[derive(Template)]
#[template(path = "domain.html")]
pub struct DomainPage<'a> {
    pub frame: Frame,
    pub detail: &'a DomainDetail,
    pub report: &'a DomainReport,
    pub alias: &'a str,
    pub latest: bool,
}

impl fmt::Display for Captured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted(count) => count.fmt(out),
            Self::NotCounted => out.write_str("– not counted yet"),
            Self::NotInPlan => out.write_str("– not in your plan"),
            Self::Unverified => out.write_str("–"),
        }
    }
}
