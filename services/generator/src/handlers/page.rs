//! The HTML pages: the playground at `/`, and the schema builder.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::Operation;
use shell::pages::{Accent, FixedPage, Page, Site};

use crate::model::records;

const DIE: &str = "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2Zm2.5 3a1.5 1.5 0 1 0 \
                   0 3 1.5 1.5 0 0 0 0-3Zm9 0a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3ZM12 10.5a1.5 1.5 0 1 0 0 3 \
                   1.5 1.5 0 0 0 0-3Zm-4.5 4.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3Zm9 0a1.5 1.5 0 1 0 0 3 \
                   1.5 1.5 0 0 0 0-3Z";

/// The site with its navigation, style sheet and scripts.
pub static SITE: LazyLock<Site> = LazyLock::new(|| {
    Site::new("Test-data generator", "Makes and checks synthetic test data.", Accent::Teal)
        .icon(DIE)
        .link("Records by schema", "records")
        .link("Licences", "licenses")
        .style("playground.css", include_bytes!("../../assets/playground.css"))
        .script("playground.js", include_bytes!("../../assets/playground.js"))
        .script("builder.js", include_bytes!("../../assets/builder.js"))
});

#[derive(Template)]
#[template(path = "playground.html")]
struct Playground<'a> {
    /// The documented operations, grouped by tag.
    groups: BTreeMap<&'a str, Vec<Entry<'a>>>,
}

#[derive(Template)]
#[template(path = "builder.html")]
struct Builder {
    /// Field types that a schema can use.
    types: Vec<&'static str>,
    /// The parts of a person that a field can contain.
    parts: Vec<&'static str>,
}

/// An entry in the list of operations.
struct Entry<'a> {
    id: &'a str,
    summary: &'a str,
}

/// Serves the playground, which lists the operations and is the same for every request.
pub async fn playground(request: HttpRequest) -> HttpResponse {
    static PAGE: OnceLock<FixedPage> = OnceLock::new();
    PAGE.get_or_init(|| page(shell::operations(&request).iter())).respond(&request)
}

/// Serves the schema builder.
pub async fn builder(request: HttpRequest) -> HttpResponse {
    static PAGE: LazyLock<FixedPage> = LazyLock::new(|| {
        let page = Page::home("Records by schema")
            .description(
                "Describe tables and their relations, and download as many rows as you need.",
            )
            .wide()
            .script("builder.js");
        let types = records::types().collect();
        SITE.fixed(&page, &Builder { types, parts: records::person_parts().collect() })
    });
    PAGE.respond(&request)
}

fn page<'a>(operations: impl Iterator<Item = &'a Operation>) -> FixedPage {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for operation in operations {
        let Some(id) = operation.id() else { continue };
        groups.entry(operation.tag()).or_default().push(Entry { id, summary: operation.summary() });
    }
    let page = Page::home("Generate and check test data")
        .description("Generate cards, accounts, numbers, names and text for tests, and check them.")
        .wide()
        .script("playground.js");
    SITE.fixed(&page, &Playground { groups })
}
