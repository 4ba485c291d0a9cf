//! `robots.txt` and the sitemap, for search engines.

use actix_web::http::header;
use actix_web::web::Path;
use actix_web::{HttpResponse, HttpResponseBuilder};
use askama::Template;
use shell::Validators;

use super::visit::{Reader, Visit};
use crate::app::pages::site_map::{self, Part, SitePage};
use crate::error::Error;
use crate::model::urls::{ALIAS, NAMESPACE};

/// `Cache-Control` for documents that must be revalidated on each use.
pub(super) const CACHING: &str = "public, no-cache";

#[derive(Template)]
#[template(path = "sitemap_index.xml")]
struct Index {
    urls: Vec<String>,
}

#[derive(Template)]
#[template(path = "sitemap.xml")]
struct PagesOfPart {
    pages: Vec<SitePage>,
}

/// Allows crawlers to read the pages, and points them to the sitemap.
pub async fn robots(visit: Visit) -> HttpResponse {
    visit
        .answer(async |reader| {
            let (root, base) = (reader.root(), &reader.urls().base);
            let text = format!(
                "User-agent: *\nDisallow: {root}{NAMESPACE}/\nDisallow: {root}{ALIAS}/\n\
                 Allow: {root}\n\nSitemap: {base}/sitemap.xml\n"
            );
            Ok(HttpResponse::Ok()
                .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
                .content_type("text/plain; charset=utf-8")
                .body(text))
        })
        .await
}

/// Lists the parts of the sitemap.
pub async fn index(visit: Visit) -> HttpResponse {
    visit
        .answer(async |reader| {
            let base = reader.urls().base.clone();
            xml(reader, "sitemap", async || {
                let parts = site_map::parts(&reader.state, &reader.request).await?;
                let lists = [format!("{base}/sitemap/lists.xml")];
                let url = |part: Part| format!("{base}/sitemap/{}.xml", part.name());
                Ok(Index { urls: lists.into_iter().chain(parts.into_iter().map(url)).collect() })
            })
            .await
        })
        .await
}

/// Lists the pages in one part of the sitemap.
pub async fn part(visit: Visit, name: Path<String>) -> HttpResponse {
    visit
        .answer(async |reader| {
            let name = name.strip_suffix(".xml").ok_or(Error::NoRoute)?;
            if name == "lists" {
                let base = &reader.urls().base;
                let url = |path: &str| format!("{base}{path}");
                let page = |path| SitePage { url: url(path), modified: String::new() };
                let pages = ["/events/", "/events/month/"].map(page).into();
                return xml(reader, name, async || Ok(PagesOfPart { pages })).await;
            }
            let part = Part::parse(name).ok_or(Error::NoRoute)?;
            xml(reader, name, async || {
                let pages = site_map::pages(&reader.state, &reader.request, part).await?;
                Ok(PagesOfPart { pages })
            })
            .await
        })
        .await
}

/// Renders an XML document, dropping characters that XML doesn't allow.
pub(super) fn rendered(document: &impl Template) -> Result<String, Error> {
    let text = document.render();
    let mut text = text.map_err(|error| Error::Internal(format!("cannot render XML: {error}")))?;
    text.retain(|c| match c {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        _ => c >= ' ',
    });
    Ok(text)
}

/// Responds with an XML document, or with 304 if nothing has been published since the client's last
/// request.
async fn xml<T: Template>(
    reader: &Reader,
    name: &str,
    document: impl AsyncFnOnce() -> Result<T, Error>,
) -> Result<HttpResponse, Error> {
    let tag = site_map::tag(&reader.state, &reader.request, name).await?;
    let validators = Validators::weak(tag);
    if validators.are_known(reader.headers()) {
        return Ok(reader.validated(validators, CACHING, |mut response| response.finish()));
    }
    let text = rendered(&document().await?)?;
    let send = |mut response: HttpResponseBuilder| {
        response.content_type("application/xml; charset=utf-8").body(text)
    };
    Ok(reader.validated(validators, CACHING, send))
}
