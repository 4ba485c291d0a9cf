//! The layout around a page's content.

use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use sha2::{Digest, Sha256};

use super::asset::FixedPage;
use super::headers::{adapt, protect};
use super::links::Root;
use super::page::Page;
use super::site::{Link, Site};
use crate::{EntityTag, Validators};

const HTML: &str = "text/html; charset=utf-8";

#[derive(Template)]
#[template(path = "frame.html")]
pub(super) struct Frame<'a, T: Template> {
    pub(super) site: &'a Site,
    pub(super) page: &'a Page<'a>,
    pub(super) main: &'a T,
}

impl<T: Template> Frame<'_, T> {
    fn name(&self) -> &str {
        self.page.publisher.map_or(self.site.name, |publisher| publisher.name)
    }

    fn about(&self) -> &str {
        self.page.publisher.map_or(self.site.about, |publisher| publisher.about)
    }

    /// Returns the JSON-LD with every `<` escaped so that it can't close its `<script>` element.
    fn linked_data(&self) -> Option<String> {
        self.page.linked_data.map(|json| json.replace('<', "\\u003c"))
    }

    fn skip(&self) -> &str {
        self.page.words.map_or("Skip to the content", |words| words.skip)
    }

    fn navigation(&self) -> &str {
        self.page.words.map_or("Site", |words| words.navigation)
    }

    fn languages(&self) -> &str {
        self.page.words.map_or("Languages", |words| words.languages)
    }

    /// Returns the HTML for the line of links to machine-readable documents.
    fn programs(&self) -> String {
        let root = self.page.root;
        match self.page.words {
            Some(words) => words.programs.to_owned(),
            None => format!(
                "For programs: <a href=\"{root}docs/\">documentation</a> and \
                 <a href=\"{root}openapi.json\">OpenAPI document</a>."
            ),
        }
    }

    /// Returns the navigation links with their labels.
    fn links(&self) -> impl Iterator<Item = (&Link, &str)> {
        self.site.links.iter().enumerate().map(|(index, link)| {
            let words = self.page.words.and_then(|words| words.links.get(index).copied());
            (link, words.unwrap_or(link.text))
        })
    }

    fn script_hrefs(&self) -> impl Iterator<Item = String> {
        self.page.scripts.iter().map(|name| self.site.href(name))
    }
}

impl Site {
    /// Renders a static page.
    pub fn fixed(&self, page: &Page<'_>, main: &impl Template) -> FixedPage {
        FixedPage::new(self.render(page, main).unwrap_or_else(|error| {
            log::error!("the page {:?} cannot be rendered: {error}", page.title);
            String::new()
        }))
    }

    /// Renders a page for a single request. The caller can still change the response's status and
    /// caching headers.
    ///
    /// The response is `no-store` by default because the page might contain private data.
    pub fn respond(&self, page: &Page<'_>, main: &impl Template) -> HttpResponse {
        match self.render(page, main) {
            Ok(html) => {
                let mut response = HttpResponse::Ok();
                protect(&mut response);
                let mut response = response
                    .insert_header((actix_web::http::header::CACHE_CONTROL, "no-store"))
                    .content_type(HTML)
                    .body(html);
                adapt(&mut response, page);
                response
            }
            Err(error) => failed(error),
        }
    }

    /// Renders a page that is the same for all clients. Its entity tag lets a client that already
    /// has the page get a 304.
    pub fn respond_shared(
        &self,
        request: &HttpRequest,
        page: &Page<'_>,
        main: &impl Template,
    ) -> HttpResponse {
        let html = match self.render(page, main) {
            Ok(html) => html,
            Err(error) => return failed(error),
        };
        // A weak tag is required because the response might be compressed later.
        let validators = Validators::weak(EntityTag::of_digest(&Sha256::digest(&html)[..16]));
        validators.answer(request, "public, no-cache", |mut response| {
            protect(&mut response);
            let mut response = response.content_type(HTML).body(html);
            adapt(&mut response, page);
            response
        })
    }

    fn render(&self, page: &Page<'_>, main: &impl Template) -> askama::Result<String> {
        Frame { site: self, page, main }.render_with_values(&Root(page.root.to_owned()))
    }
}

fn failed(error: askama::Error) -> HttpResponse {
    HttpResponse::from_error(actix_web::error::ErrorInternalServerError(error))
}
