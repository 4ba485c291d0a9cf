//! The search page at `/`.

use std::sync::LazyLock;

use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::pages::{Accent, FixedPage, Page, Site};

const BUCKET: &str =
    "M3 5h18v3h-1.2L18 20a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1L4.2 8H3V5Zm4.2 5 1.3 8h7l1.3-8H7.2Z";

/// The page with its style and its script.
pub static SITE: LazyLock<Site> = LazyLock::new(|| {
    Site::new(
        "Bucket search",
        "Searches an index of files in open cloud-storage buckets.",
        Accent::Green,
    )
    .icon(BUCKET)
    .style("search.css", include_bytes!("../../assets/search.css"))
    .script("search.js", include_bytes!("../../assets/search.js"))
});

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage;

static PAGE: LazyLock<FixedPage> = LazyLock::new(|| {
    let page = Page::home("Search open buckets")
        .description("Searches the names of files in open cloud-storage buckets.")
        .wide()
        .script("search.js");
    SITE.fixed(&page, &SearchPage)
});

/// Answers the page.
pub async fn search_page(request: HttpRequest) -> HttpResponse {
    PAGE.respond(&request)
}
