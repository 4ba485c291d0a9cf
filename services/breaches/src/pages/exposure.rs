//! Shows the breaches that exposed an address.

use askama::Template;

use super::breach::{BreachView, views};
use super::frame::Frame;
use crate::app::Exposure;

/// Result of a public search.
#[derive(Template)]
#[template(path = "exposed.html")]
pub struct ExposedPage<'a> {
    csrf: &'a str,
    address: &'a str,
    exposure: Exposure,
    breaches: Vec<BreachView>,
}

impl<'a> ExposedPage<'a> {
    pub fn new(csrf: &'a str, address: &'a str, mut exposure: Exposure) -> Self {
        let breaches = views(std::mem::take(&mut exposure.breaches));
        Self { csrf, address, exposure, breaches }
    }
}

/// Overview for a signed-in subscriber.
#[derive(Template)]
#[template(path = "overview.html")]
pub struct OverviewPage {
    frame: Frame,
    exposure: Exposure,
    breaches: Vec<BreachView>,
}

impl OverviewPage {
    pub fn new(frame: Frame, mut exposure: Exposure) -> Self {
        let breaches = views(std::mem::take(&mut exposure.breaches));
        Self { frame, exposure, breaches }
    }
}

/// Websites where the subscriber's address was captured.
#[derive(Template)]
#[template(path = "stealer_logs.html")]
pub struct StealerLogsPage<'a> {
    pub frame: Frame,
    /// Sorted alphabetically.
    pub websites: &'a [String],
}
