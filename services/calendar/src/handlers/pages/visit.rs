//! The extractor of page requests, and their responses.

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::web::{self, Data};
use actix_web::{FromRequest, HttpRequest, HttpResponse, HttpResponseBuilder};
use askama::Template;
use futures_util::future::LocalBoxFuture;
use jiff::civil::Date;
use shell::pages::Page;
use shell::{Validators, base_url, read_body};

use super::super::ical;
use super::super::input::from_form;
use super::super::reuse::{Lasting, Reuse};
use super::failure::failure;
use super::head::{Around, Head};
use super::site::SITE;
use crate::app::feeds::Feed;
use crate::app::pages::{self, Named, PageRequest};
use crate::error::Error;
use crate::model::urls::Urls;
use crate::state::State;
use crate::wire::pages::query::PageQuery;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;

/// A page request. Pages do not depend on keys, but a request that exceeds its rate limit or has
/// invalid credentials is still rejected.
pub struct Visit {
    pub state: Data<State>,
    urls: Urls,
    http: HttpRequest,
    query: Result<PageQuery, Error>,
}

/// A page request with a valid query.
pub struct Reader {
    pub state: Data<State>,
    pub request: PageRequest,
    /// Path of the site with a trailing slash.
    pub root: String,
    http: HttpRequest,
}

/// The URLs of a calendar subscription.
pub struct Subscription {
    /// The URL for calendar apps.
    pub webcal: String,
    /// The URL of the file.
    pub url: String,
    /// Maximum number of events in the file, if the calendar has more.
    pub limit: Option<i64>,
    most: i64,
}

impl Subscription {
    /// Sets the number of events in the calendar, so that the page can say if the file has fewer.
    pub fn of(self, events: i64) -> Subscription {
        Subscription { limit: (events > self.most).then_some(self.most), ..self }
    }
}

impl FromRequest for Visit {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Visit, actix_web::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let http = request.clone();
        Box::pin(async move {
            let state = http.app_data::<Data<State>>().cloned();
            let state =
                state.ok_or_else(|| Error::Internal("the state is not registered".to_owned()))?;
            let query = match state.gate.admit(&http).await {
                Ok(_) => query(&http),
                Err(error) => Err(error.into()),
            };
            let urls = Urls { base: base_url(&http), alias: false };
            Ok(Visit { state, urls, http, query })
        })
    }
}

fn query(request: &HttpRequest) -> Result<PageQuery, Error> {
    Ok(PageQuery::read(&from_form(request.query_string())?)?)
}

impl Visit {
    /// Responds with a page, a calendar file, or an error page.
    pub async fn answer(
        self,
        show: impl AsyncFnOnce(&Reader) -> Result<HttpResponse, Error>,
    ) -> HttpResponse {
        self.answer_with(|_| None, show).await
    }

    /// Responds like [`Visit::answer`], from memory if an earlier page still lasts. Calendar files
    /// last for a day.
    pub async fn reuse(
        self,
        lasting: Lasting,
        show: impl AsyncFnOnce(&Reader) -> Result<HttpResponse, Error>,
    ) -> HttpResponse {
        let of_query = |query: &PageQuery| if query.as_calendar { Lasting::Day } else { lasting };
        self.answer_with(|query| Some(of_query(query)), show).await
    }

    /// Responds like [`Visit::reuse`], for a page that has no calendar file.
    pub async fn reuse_page(
        self,
        lasting: Lasting,
        show: impl AsyncFnOnce(&Reader) -> Result<HttpResponse, Error>,
    ) -> HttpResponse {
        self.answer_with(|_| Some(lasting), show).await
    }

    async fn answer_with(
        self,
        lasting: impl FnOnce(&PageQuery) -> Option<Lasting>,
        show: impl AsyncFnOnce(&Reader) -> Result<HttpResponse, Error>,
    ) -> HttpResponse {
        let Visit { state, urls, http, query } = self;
        let (state_of_failure, base) = (state.clone(), urls.base.clone());
        let answered = async {
            let root = format!("{}/", urls.relative().base);
            let query = query?;
            let lasting = lasting(&query);
            let request = PageRequest { urls, query };
            let reader = Reader { state, request, root, http };
            match lasting {
                Some(lasting) => {
                    let Reader { state, request, http, .. } = &reader;
                    let reuse = Reuse::of_page(http, state, &request.urls, lasting);
                    reuse.answer(show(&reader)).await
                }
                None => show(&reader).await,
            }
        };
        answered.await.unwrap_or_else(|error| {
            failure(&error, &state_of_failure.site.settings.site_name, &base)
        })
    }
}

/// Redirects to a page at its current slug.
pub fn moved_page(location: String) -> HttpResponse {
    HttpResponse::MovedPermanently()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .finish()
}

impl Reader {
    /// Returns the decoded query string of the page.
    pub fn query(&self) -> &PageQuery {
        &self.request.query
    }

    /// Returns the headers of the request.
    pub fn headers(&self) -> &HeaderMap {
        self.http.headers()
    }

    /// Responds with validators, and with 304 if the client has the response.
    pub fn validated(
        &self,
        validators: Validators,
        caching: &'static str,
        whole: impl FnOnce(HttpResponseBuilder) -> HttpResponse,
    ) -> HttpResponse {
        validators.answer(&self.http, caching, whole)
    }

    /// Responds with a page for frames of other sites.
    pub fn show_embedded(&self, title: &str, class: &str, main: &impl Template) -> HttpResponse {
        let settings = &self.state.site.settings;
        let page = Page::new(title)
            .publisher(&settings.site_name, "")
            .root(&self.root)
            .embedded("embed.css", class, settings.embed_origins.sources())
            .script("embed-size.js");
        SITE.respond_shared(&self.http, &page, main)
    }

    /// Returns the current day in the time zone of the site.
    pub fn today(&self) -> Date {
        self.state.site.settings.site_timezone.wall(self.state.clock.now()).date()
    }

    /// Returns the absolute URLs of this site.
    pub fn urls(&self) -> &Urls {
        &self.request.urls
    }

    /// Reads the fields of a form.
    ///
    /// # Errors
    /// The form is too large, incomplete, or not valid UTF-8.
    pub async fn form(&self, payload: web::Payload, limit: usize) -> Result<Params, Error> {
        let mut payload = payload.into_inner();
        let bytes = read_body(&self.http, &mut payload, limit).await;
        let bytes = bytes.map_err(|fault| Error::from(&fault))?;
        let text = std::str::from_utf8(&bytes);
        from_form(text.map_err(|_| ParameterErrors::one("form", "must be UTF-8"))?)
    }

    /// Responds with a public page.
    pub fn show(&self, head: &Head, main: &impl Template) -> HttpResponse {
        self.framed(head, |page| SITE.respond_shared(&self.http, page, main))
    }

    /// Responds with a page that must not be cached.
    pub fn show_private(&self, head: &Head, main: &impl Template) -> HttpResponse {
        self.framed(head, |page| SITE.respond(page, main))
    }

    fn framed(&self, head: &Head, respond: impl FnOnce(&Page<'_>) -> HttpResponse) -> HttpResponse {
        let urls = self.urls();
        let name = &self.state.site.settings.site_name;
        let about = format!("Events of {name}");
        let canonical = format!("{}{}", urls.base, head.path);
        let image = match head.image.strip_prefix('/') {
            Some(_) => {
                let below = head.image.strip_prefix(self.root.trim_end_matches('/'));
                format!("{}{}", urls.base, below.unwrap_or(&head.image))
            }
            None => head.image.clone(),
        };
        let around =
            Around { name, about: &about, root: &self.root, canonical: &canonical, image: &image };
        let mut response = respond(&head.page(&around));
        // Headers that API clients use to discover the API.
        for (header, text) in [
            ("x-tec-api-version", "v1"),
            ("x-tec-api-root", &format!("{}/", urls.root())),
            ("x-tec-api-origin", &urls.base),
        ] {
            if let Ok(value) = HeaderValue::from_str(text) {
                response.headers_mut().insert(HeaderName::from_static(header), value);
            }
        }
        response
    }

    /// Redirects from a former slug to the current page, keeping the query.
    ///
    /// # Errors
    /// The slug never belonged to a public page.
    pub async fn moved(&self, named: Named, slug: &str) -> Result<HttpResponse, Error> {
        let path = pages::moved(&self.state, &self.request, named, slug).await?;
        // The shell prepends the path of PUBLIC_URL.
        Ok(moved_page(self.with_query(path)))
    }

    /// Returns a path with the query of the request.
    pub fn with_query(&self, path: String) -> String {
        match self.http.query_string() {
            "" => path,
            query => format!("{path}?{query}"),
        }
    }

    /// Responds with a calendar file.
    pub async fn calendar(&self, feed: Feed) -> Result<HttpResponse, Error> {
        ical::answer(feed, &self.http).await
    }

    /// Returns the subscription URLs of the calendar at a path.
    pub fn subscription(&self, path: &str) -> Subscription {
        let url = format!("{}{path}", self.urls().base);
        let (_, rest) = url.split_once("://").unwrap_or_default();
        let most = self.state.site.settings.ical_items_max;
        Subscription { webcal: format!("webcal://{rest}"), url, limit: None, most }
    }
}
