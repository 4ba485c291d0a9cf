//! The exposure of an address.

use askama::Template;

use super::breach::{BreachView, views};
use super::frame::Frame;
use crate::app::Exposure;

/// The result of a public search.
#[derive(Template)]
#[template(path = "exposed.html")]
pub struct ExposedPage<'a> {
    csrf: &'a str,
    address: &'a str,
    exposure: Exposure,
    breaches: Vec<BreachView>,
}

impl<'a> ExposedPage<'a> {
    /// Creates the page.
    pub fn new(csrf: &'a str, address: &'a str, mut exposure: Exposure) -> Self {
        let breaches = views(std::mem::take(&mut exposure.breaches));
        Self { csrf, address, exposure, breaches }
    }
}

/// The exposure of the subscriber's own address.
#[derive(Template)]
#[template(path = "overview.html")]
pub struct OverviewPage {
    frame: Frame,
    exposure: Exposure,
    breaches: Vec<BreachView>,
}

impl OverviewPage {
    /// Creates the page.
    pub fn new(frame: Frame, mut exposure: Exposure) -> Self {
        let breaches = views(std::mem::take(&mut exposure.breaches));
        Self { frame, exposure, breaches }
    }
}

/// The websites at which the subscriber's own address was captured.
#[derive(Template)]
#[template(path = "stealer_logs.html")]
pub struct StealerLogsPage<'a> {
    /// The frame of the account pages.
    pub frame: Frame,
    /// The websites in alphabetical order.
    pub websites: &'a [String],
}
