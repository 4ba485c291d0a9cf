//! The extractor for page requests, and the ways to respond to them.

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
use super::frame::{Frame, addresses, in_language, selected, translations};
use super::head::{Around, Head};
use super::site::SITE;
use crate::app::feeds::Feed;
use crate::app::pages::{self, Named, PageRequest};
use crate::error::Error;
use crate::model::language::{Language, Words};
use crate::model::urls::Urls;
use crate::state::State;
use crate::wire::pages::query::PageQuery;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;

/// Root path for pages that other sites embed in frames.
const EMBEDDED: &str = "/embed/";

/// A page request. Although pages don't depend on API keys, requests with invalid credentials or
/// beyond the rate limit are rejected.
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
    frame: Frame,
    http: HttpRequest,
}

/// URLs for subscribing to a calendar.
pub struct Subscription {
    /// `webcal` URL for calendar apps.
    pub webcal: String,
    /// URL of the iCalendar file.
    pub url: String,
    /// The file's event limit, in words. `None` if the file contains all events.
    pub limit: Option<String>,
    most: i64,
    language: Language,
}

impl Subscription {
    /// Sets the number of events in the calendar. If they don't all fit in the file, the page says
    /// so.
    pub fn of(self, events: i64) -> Subscription {
        let (most, language) = (self.most, self.language);
        let limit = || (language.words().file_limit)(language.count(most));
        Subscription { limit: (events > most).then(limit), ..self }
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
            let language = selected(&http, &state.site.settings);
            let urls = Urls { base: base_url(&http), language, ..Urls::default() };
            let query = query.map(|query| PageQuery { language, ..query });
            Ok(Visit { state, urls, http, query })
        })
    }
}

fn query(request: &HttpRequest) -> Result<PageQuery, Error> {
    Ok(PageQuery::read(&from_form(request.query_string())?)?)
}

impl Visit {
    /// Responds with a page, an iCalendar file or an error page.
    pub async fn answer(
        self,
        show: impl AsyncFnOnce(&Reader) -> Result<HttpResponse, Error>,
    ) -> HttpResponse {
        self.answer_with(|_| None, show).await
    }

    /// Like [`Visit::answer`], but reuses an earlier response while it is still valid. iCalendar
    /// files are valid for a day.
    pub async fn reuse(
        self,
        lasting: Lasting,
        show: impl AsyncFnOnce(&Reader) -> Result<HttpResponse, Error>,
    ) -> HttpResponse {
        let of_query = |query: &PageQuery| if query.as_calendar { Lasting::Day } else { lasting };
        self.answer_with(|query| Some(of_query(query)), show).await
    }

    /// Like [`Visit::reuse`], for pages without an iCalendar file.
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
        let settings = &state.site.settings;
        let language = urls.language.unwrap_or(settings.site_locale);
        let answered = async {
            let query = query?;
            let lasting = lasting(&query);
            // None of this is needed for a cached response.
            let show = async {
                let frame = Frame::new(&urls, language);
                let request = PageRequest { urls: urls.clone(), query };
                let reader = Reader { state: state.clone(), request, frame, http: http.clone() };
                show(&reader).await
            };
            match lasting {
                Some(lasting) => Reuse::of_page(&http, &state, &urls, lasting).answer(show).await,
                None => show.await,
            }
        };
        answered.await.unwrap_or_else(|error| {
            let is_embedded = http.path().starts_with(EMBEDDED);
            let ancestors = is_embedded.then(|| settings.embed_origins.sources());
            failure(&error, &settings.site_name, &Frame::new(&urls, language), ancestors)
        })
    }
}

/// Redirects to a page's current URL.
pub fn moved_page(location: String) -> HttpResponse {
    HttpResponse::MovedPermanently()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .finish()
}

impl Reader {
    /// Returns the decoded query string.
    pub fn query(&self) -> &PageQuery {
        &self.request.query
    }

    /// Returns the page language.
    pub fn language(&self) -> Language {
        self.frame.language
    }

    /// Returns the UI strings in the page language.
    pub fn words(&self) -> &'static Words {
        self.frame.language.words()
    }

    /// Returns the query string for links to other pages, e.g. `?lang=de`. May be empty.
    pub fn page_query(&self) -> &str {
        &self.frame.query
    }

    /// Returns the root path of the site, with a trailing slash.
    pub fn root(&self) -> &str {
        &self.frame.root
    }

    pub fn headers(&self) -> &HeaderMap {
        self.http.headers()
    }

    /// Adds validators to a response, or replaces it with a 304 if the client already has it.
    pub fn validated(
        &self,
        validators: Validators,
        caching: &'static str,
        whole: impl FnOnce(HttpResponseBuilder) -> HttpResponse,
    ) -> HttpResponse {
        validators.answer(&self.http, caching, whole)
    }

    /// Responds with a page that other sites can embed.
    pub fn show_embedded(&self, title: &str, class: &str, main: &impl Template) -> HttpResponse {
        let settings = &self.state.site.settings;
        let page = Page::new(title)
            .publisher(&settings.site_name, "")
            .embedded("embed.css", class, settings.embed_origins.sources())
            .script("embed-size.js");
        SITE.respond_shared(&self.http, &self.frame.around(page), main)
    }

    /// Returns today's date in the site's time zone.
    pub fn today(&self) -> Date {
        self.state.site.settings.site_timezone.wall(self.state.clock.now()).date()
    }

    /// Returns the site's absolute URLs.
    pub fn urls(&self) -> &Urls {
        &self.request.urls
    }

    /// Reads the fields of a form.
    ///
    /// # Errors
    /// Returns an error if the form is too large, incomplete, or not valid UTF-8.
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
        let settings = &self.state.site.settings;
        let name = &settings.site_name;
        let about = (self.words().events_of)(name);
        let canonical = format!("{}{}", urls.base, in_language(&head.path, urls.language));
        let image = match head.image.strip_prefix('/') {
            Some(_) => {
                let below = head.image.strip_prefix(self.root().trim_end_matches('/'));
                format!("{}{}", urls.base, below.unwrap_or(&head.image))
            }
            None => head.image.clone(),
        };
        let atom = format!("events/atom.xml{}", self.page_query());
        let (about, canonical, image, atom) = (&*about, &*canonical, &*image, &*atom);
        let page = head.page(&Around { name, about, canonical, image, atom });
        let addresses = addresses(&urls.base, &head.path, settings);
        let page = self.frame.around(page).translations(translations(&addresses));
        let mut response = respond(&page);
        // API clients use these headers to discover the API.
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

    /// Redirects from an old slug to the current page, keeping the query.
    ///
    /// # Errors
    /// Returns an error if the slug never belonged to a public page.
    pub async fn moved(&self, named: Named, slug: &str) -> Result<HttpResponse, Error> {
        // The query already contains the language.
        let urls = self.urls().in_default_language();
        let request = PageRequest { urls, ..self.request.clone() };
        let path = pages::moved(&self.state, &request, named, slug).await?;
        // The shell prepends the path of PUBLIC_URL.
        Ok(moved_page(self.with_query(path)))
    }

    /// Appends the request's query to `path`.
    pub fn with_query(&self, path: String) -> String {
        match self.http.query_string() {
            "" => path,
            query => format!("{path}?{query}"),
        }
    }

    /// Responds with an iCalendar file.
    pub async fn calendar(&self, feed: Feed) -> Result<HttpResponse, Error> {
        ical::answer(feed, &self.http).await
    }

    /// Returns the URLs for subscribing to the calendar at `path`.
    pub fn subscription(&self, path: &str) -> Subscription {
        let url = format!("{}{path}", self.urls().base);
        let (_, rest) = url.split_once("://").unwrap_or_default();
        let most = self.state.site.settings.ical_items_max;
        Subscription {
            webcal: format!("webcal://{rest}"),
            url,
            limit: None,
            most,
            language: self.language(),
        }
    }
}
