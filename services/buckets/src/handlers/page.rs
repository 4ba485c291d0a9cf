//! Serves the search page at `/` and the crawls page.

use std::sync::LazyLock;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use jiff::Timestamp;
use shell::pages::{Accent, FixedPage, Page, Site};

use crate::app;
use crate::state::State;

const BUCKET: &str =
    "M3 5h18v3h-1.2L18 20a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1L4.2 8H3V5Zm4.2 5 1.3 8h7l1.3-8H7.2Z";

/// The pages and their static files.
pub static SITE: LazyLock<Site> = LazyLock::new(|| {
    Site::new(
        "Bucket search",
        "Searches an index of files in open cloud-storage buckets.",
        Accent::Green,
    )
    .icon(BUCKET)
    .link("Crawls", "crawls")
    .style("search.css", include_bytes!("../../assets/search.css"))
    .script("tools.js", include_bytes!("../../assets/tools.js"))
    .script("facets.js", include_bytes!("../../assets/facets.js"))
    .script("alerts.js", include_bytes!("../../assets/alerts.js"))
    .script("search.js", include_bytes!("../../assets/search.js"))
    .script("crawls.js", include_bytes!("../../assets/crawls.js"))
});

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    /// `None` until something has been published.
    indexed: Option<Indexed>,
}

/// Public statistics of the index.
struct Indexed {
    files: String,
    buckets: String,
    published: String,
}

impl Indexed {
    fn of(state: &State) -> Option<Self> {
        let (totals, published_at) = app::get_totals(state);
        let published = Timestamp::from_second(published_at).ok();
        let published = published.filter(|_| published_at > 0)?;
        Some(Self {
            files: grouped(totals.files),
            buckets: grouped(totals.buckets.iter().sum()),
            published: published.strftime("%Y-%m-%d %H:%M").to_string(),
        })
    }
}

/// Formats a number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Serves the search page.
pub async fn search_page(state: Data<State>) -> HttpResponse {
    let page = Page::home("Search open buckets")
        .description("Searches the names of files in open cloud-storage buckets.")
        .wide()
        .script("tools.js")
        .script("facets.js")
        .script("alerts.js")
        .script("search.js");
    SITE.respond(&page, &SearchPage { indexed: Indexed::of(&state) })
}

#[derive(Template)]
#[template(path = "crawls.html")]
struct CrawlsPage;

/// Serves the crawls page, whose script requests the crawls with the key that the user enters.
pub async fn crawls_page(request: HttpRequest) -> HttpResponse {
    static PAGE: LazyLock<FixedPage> = LazyLock::new(|| {
        let page = Page::home("Crawls")
            .description("Shows the public buckets that are listed at regular intervals.")
            .current("crawls")
            .wide()
            .script("tools.js")
            .script("crawls.js");
        SITE.fixed(&page, &CrawlsPage)
    });
    PAGE.respond(&request)
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_separated() {
        let texts = [0, 999, 1_000, 12_475_502_817].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "12,475,502,817"]);
    }
}
