//! The page at `/` that checks a password in the browser.

use std::sync::LazyLock;

use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::pages::{Accent, FixedPage, Page, Site};

const LOCK: &str = "M7 10V8a5 5 0 0 1 10 0v2h1a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-8\
                    a1 1 0 0 1 1-1h1Zm2 0h6V8a3 3 0 0 0-6 0v2Z";

/// The site, which consists of just this page with its style sheet and script.
pub static SITE: LazyLock<Site> = LazyLock::new(|| {
    Site::new(
        "Password check",
        "Looks up how often a password was exposed, without learning the password.",
        Accent::Blue,
    )
    .icon(LOCK)
    .style("check.css", include_bytes!("../../assets/check.css"))
    .script("check.js", include_bytes!("../../assets/check.js"))
});

#[derive(Template)]
#[template(path = "check.html")]
struct CheckPage;

static PAGE: LazyLock<FixedPage> = LazyLock::new(|| {
    let page = Page::home("Was this password exposed?")
        .description("Check whether a password was exposed, without sending it anywhere.")
        .script("check.js");
    SITE.fixed(&page, &CheckPage)
});

/// Serves the page.
pub async fn check_page(request: HttpRequest) -> HttpResponse {
    PAGE.respond(&request)
}
