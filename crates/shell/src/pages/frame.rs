//! The frame around the content of a page.

use actix_web::HttpResponse;
use askama::Template;

use super::asset::FixedPage;
use super::headers::protect;
use super::page::Page;
use super::site::Site;

/// The whole document.
#[derive(Template)]
#[template(path = "frame.html")]
pub(super) struct Frame<'a, T: Template> {
    pub(super) site: &'a Site,
    pub(super) page: &'a Page<'a>,
    pub(super) main: &'a T,
}

impl<T: Template> Frame<'_, T> {
    fn script_hrefs(&self) -> impl Iterator<Item = String> {
        self.page.scripts.iter().map(|name| self.site.href(name))
    }
}

impl Site {
    /// Renders a page once for all.
    pub fn fixed(&self, page: &Page<'_>, main: &impl Template) -> FixedPage {
        FixedPage::new(self.render(page, main).unwrap_or_else(|error| {
            log::error!("the page {:?} cannot be rendered: {error}", page.title);
            String::new()
        }))
    }

    /// Renders a page for one request; the caller adds status and caching.
    ///
    /// The answer may hold what belongs to one reader, so that it is `no-store` unless the caller
    /// says otherwise.
    pub fn respond(&self, page: &Page<'_>, main: &impl Template) -> HttpResponse {
        match self.render(page, main) {
            Ok(html) => {
                let mut response = HttpResponse::Ok();
                protect(&mut response);
                response
                    .insert_header((actix_web::http::header::CACHE_CONTROL, "no-store"))
                    .content_type("text/html; charset=utf-8")
                    .body(html)
            }
            Err(error) => {
                HttpResponse::from_error(actix_web::error::ErrorInternalServerError(error))
            }
        }
    }

    fn render(&self, page: &Page<'_>, main: &impl Template) -> askama::Result<String> {
        Frame { site: self, page, main }.render()
    }
}
