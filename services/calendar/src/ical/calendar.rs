//! The frame of a calendar file.

use super::lines::{bare, line, text_line};

/// The product id of generated calendars. In them, occurrences of a series are separate events.
pub const PRODUCT: &str = "-//Quintet//Calendar//EN";

/// Writes the beginning of a calendar, without its name for Outlook.
pub fn begin(out: &mut String, site: &str, url: &str, outlook: bool) {
    line(out, "BEGIN", "VCALENDAR");
    line(out, "VERSION", "2.0");
    line(out, "PRODID", PRODUCT);
    line(out, "CALSCALE", "GREGORIAN");
    line(out, "METHOD", "PUBLISH");
    if !outlook {
        text_line(out, "X-WR-CALNAME", site);
    }
    text_line(out, "X-WR-CALDESC", &format!("Events of {site}"));
    line(out, "X-ORIGINAL-URL", &bare(url));
    line(out, "REFRESH-INTERVAL;VALUE=DURATION", "PT1H");
    line(out, "X-PUBLISHED-TTL", "PT1H");
}

/// Writes the end of a calendar.
pub fn end(out: &mut String) {
    line(out, "END", "VCALENDAR");
}
