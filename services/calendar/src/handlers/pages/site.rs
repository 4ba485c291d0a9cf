//! The layout shared by all pages.

use std::sync::LazyLock;

use shell::pages::{Accent, Site};

const CALENDAR: &str = "M7 2h2v3h6V2h2v3h3a2 2 0 0 1 2 2v13a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2h3V2ZM4 \
                        10v10h16V10H4Zm3 3h4v4H7v-4Z";

/// The site and its stylesheets. The name shown on pages comes from the settings.
pub static SITE: LazyLock<Site> = LazyLock::new(|| {
    Site::new("Calendar", "Events, venues and organizers.", Accent::Indigo)
        .icon(CALENDAR)
        .link("Events", "events/")
        .link("Week", "events/week/")
        .link("Month", "events/month/")
        .style("calendar.css", include_bytes!("../../../assets/calendar.css"))
        .embedded_style("embed.css", include_bytes!("../../../assets/embed.css"))
        .script("embed-size.js", include_bytes!("../../../assets/embed-size.js"))
});
