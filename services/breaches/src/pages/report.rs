//! Shows a domain's new exposures.

use askama::Template;

use super::frame::Frame;
use crate::app::ExposureReport;
use crate::model::instant;

/// New exposures, with a switch for the monthly email.
#[derive(Template)]
#[template(path = "report.html")]
pub struct ReportPage<'a> {
    pub frame: Frame,
    pub report: &'a ExposureReport,
    /// Whether the monthly email is on.
    pub monthly: bool,
    /// When the report was requested, in Unix seconds.
    pub now: i64,
}

impl ReportPage<'_> {
    fn since(&self) -> String {
        instant::date(self.report.period.since)
    }

    fn today(&self) -> String {
        instant::date(self.now)
    }

    /// Returns the date of a time such as `2026-01-31T12:00:00Z`.
    fn day<'t>(&self, time: &'t str) -> &'t str {
        time.get(..10).unwrap_or(time)
    }
}
