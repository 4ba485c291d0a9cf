//! The report of the new exposures of a domain.

use askama::Template;

use super::frame::Frame;
use crate::app::ExposureReport;
use crate::model::instant;

/// The new exposures, and the setting of the monthly mail.
#[derive(Template)]
#[template(path = "report.html")]
pub struct ReportPage<'a> {
    pub frame: Frame,
    pub report: &'a ExposureReport,
    /// True if the subscriber gets a mail each month.
    pub monthly: bool,
    /// When the report was made.
    pub now: i64,
}

impl ReportPage<'_> {
    fn since(&self) -> String {
        instant::date(self.report.period.since)
    }

    fn today(&self) -> String {
        instant::date(self.now)
    }

    /// The day of a time such as `2026-01-31T12:00:00Z`.
    fn day<'t>(&self, time: &'t str) -> &'t str {
        time.get(..10).unwrap_or(time)
    }
}
