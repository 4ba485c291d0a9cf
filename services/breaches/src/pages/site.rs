//! The parts that all pages have in common.

use std::sync::LazyLock;

use shell::pages::{Accent, Site};

const SHIELD: &str =
    "M12 2 4 5v6c0 5 3.4 9.4 8 11 4.6-1.6 8-6 8-11V5l-8-3Zm-1 6h2v6h-2V8Zm0 8h2v2h-2v-2Z";

/// The site, with its stylesheets and scripts.
pub static SITE: LazyLock<Site> = LazyLock::new(|| {
    Site::new(
        "Breach lookup",
        "Finds the data breaches that contain an email address or a domain.",
        Accent::Plum,
    )
    .icon(SHIELD)
    .link("Breaches", "breaches")
    .link("Notify me", "notify-me")
    .link("Opt out", "opt-out")
    .link("Account", "account")
    .style("breaches.css", include_bytes!("../../assets/breaches.css"))
    .script("approve.js", include_bytes!("../../assets/approve.js"))
});
