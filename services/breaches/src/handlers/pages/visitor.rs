//! The visitor of a page: a session, or a cookie for CSRF tokens.

use std::net::IpAddr;
use std::ops::Deref;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest, HttpResponse, dev};
use askama::Template;
use futures_util::future::LocalBoxFuture;
use shell::pages::Page;
use subtle::ConstantTimeEq;

use super::failure::PageError;
use crate::app;
use crate::error::Error;
use crate::model::form_key::FormKey;
use crate::pages::{Frame, Message, SITE};
use crate::state::State;

/// The name of the session cookie.
const SESSION: &str = "session";
/// The name of the cookie of a visitor without a session.
const VISITOR: &str = "visitor";
/// Length of the secrets in cookies, in characters.
const SECRET: usize = 64;

/// The subscriber of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// The id in the database.
    pub id: i64,
    /// The mail address.
    pub email: String,
}

/// The visitor of a page.
pub struct Visitor {
    /// The IP address of the visitor.
    pub client: IpAddr,
    /// The subscriber, if signed in.
    pub subscriber: Option<Subscriber>,
    secret: String,
    is_new: bool,
    cookies: Cookies,
    /// The key for CSRF tokens.
    key: FormKey,
    /// The path of the site, with a trailing slash.
    root: String,
}

/// How this site names and protects its cookies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cookies {
    /// Cookies for the whole host. Neither other hosts nor unencrypted connections can set them.
    Host,
    /// Cookies below a path. Unencrypted connections cannot set them.
    Path,
    /// Cookies of a site without TLS, which cannot be protected.
    Plain,
}

impl Cookies {
    fn new(is_https: bool, root: &str) -> Self {
        match (is_https, root) {
            (false, _) => Self::Plain,
            (true, "/") => Self::Host,
            (true, _) => Self::Path,
        }
    }

    /// Returns the complete name of a cookie. Browsers enforce the meaning of its prefix.
    fn name(self, name: &str) -> String {
        let prefix = match self {
            Self::Host => "__Host-",
            Self::Path => "__Secure-",
            Self::Plain => "",
        };
        format!("{prefix}{name}")
    }
}

impl Visitor {
    async fn of(request: &HttpRequest, state: &State) -> Result<Self, Error> {
        let client = shell::client_ip(request);
        let root = format!("{}/", shell::base_path(request));
        let cookies = Cookies::new(shell::is_https(request), &root);
        let key = state.form_key().clone();
        if let Some(secret) = cookie(request, &cookies.name(SESSION))
            && let Some(found) = app::signed_in(state, &secret).await?
        {
            let subscriber = Some(Subscriber { id: found.subscriber, email: found.email });
            return Ok(Self { client, subscriber, secret, is_new: false, cookies, key, root });
        }
        let (secret, is_new) = match cookie(request, &cookies.name(VISITOR)) {
            Some(secret) => (secret, false),
            None => (app::visitor_secret()?, true),
        };
        Ok(Self { client, subscriber: None, secret, is_new, cookies, key, root })
    }

    /// Returns the CSRF token to put into forms.
    pub fn csrf(&self) -> String {
        self.key.token(&self.secret)
    }

    /// Checks the CSRF token of a form.
    ///
    /// # Errors
    /// [`PageError::Forged`].
    pub fn check(&self, csrf: &str) -> Result<(), PageError> {
        let same = self.csrf().as_bytes().ct_eq(csrf.as_bytes());
        if self.is_new || !bool::from(same) { Err(PageError::Forged) } else { Ok(()) }
    }

    /// Responds with a page. A new visitor also gets the cookie to which CSRF tokens are bound.
    pub fn respond(&self, page: &Page<'_>, main: &impl Template) -> HttpResponse {
        let mut response = SITE.respond(&page.clone().root(&self.root), main);
        if self.is_new {
            self.set_cookie(&mut response, VISITOR, &self.secret, 24 * 3600);
        }
        response
    }

    /// Responds with a message. `current` is the page to mark in the navigation.
    pub fn message(&self, current: &str, message: &Message<'_>) -> HttpResponse {
        self.respond(&Page::new(message.title).current(current), message)
    }

    /// Responds to a form that was rejected.
    pub fn refuse(&self, current: &str, message: &Message<'_>) -> HttpResponse {
        refused(StatusCode::BAD_REQUEST, self.message(current, message))
    }

    /// Sets the session cookie in the browser.
    pub fn begin(&self, response: &mut HttpResponse, token: &str, seconds: i64) {
        self.set_cookie(response, SESSION, token, seconds);
    }

    /// Removes the session cookie from the browser.
    pub fn end(&self, response: &mut HttpResponse) {
        self.set_cookie(response, SESSION, "", 0);
    }

    /// Returns the secret of the session.
    pub fn session(&self) -> &str {
        &self.secret
    }

    fn set_cookie(&self, response: &mut HttpResponse, name: &str, value: &str, seconds: i64) {
        let secure = if self.cookies == Cookies::Plain { "" } else { "; Secure" };
        let (root, name) = (&self.root, self.cookies.name(name));
        let cookie = format!(
            "{name}={value}; Path={root}; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}"
        );
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
}

impl FromRequest for Visitor {
    type Error = PageError;
    type Future = LocalBoxFuture<'static, Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, _: &mut dev::Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let state = request.app_data::<Data<State>>();
            let state = state.ok_or_else(|| Error::Internal("no state".to_owned()))?;
            Ok(Self::of(&request, state).await?)
        })
    }
}

/// A signed-in visitor. All others are redirected to the sign-in page.
pub struct SignedIn {
    /// The subscriber.
    pub subscriber: Subscriber,
    visitor: Visitor,
}

impl SignedIn {
    /// Returns the frame around the account pages.
    pub fn frame(&self, current: &'static str) -> Frame {
        Frame { csrf: self.csrf(), email: self.subscriber.email.clone(), current }
    }
}

impl Deref for SignedIn {
    type Target = Visitor;

    fn deref(&self) -> &Visitor {
        &self.visitor
    }
}

impl FromRequest for SignedIn {
    type Error = PageError;
    type Future = LocalBoxFuture<'static, Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, payload: &mut dev::Payload) -> Self::Future {
        let visitor = Visitor::from_request(request, payload);
        Box::pin(async move {
            let visitor = visitor.await?;
            let subscriber = visitor.subscriber.clone().ok_or(PageError::SignIn)?;
            Ok(Self { subscriber, visitor })
        })
    }
}

/// Sets the status of a page that explains why a form was rejected.
pub fn refused(status: StatusCode, mut page: HttpResponse) -> HttpResponse {
    *page.status_mut() = status;
    page
}

/// Returns the value of a cookie if it has the form of a secret.
fn cookie(request: &HttpRequest, name: &str) -> Option<String> {
    let lines = request.headers().get_all(header::COOKIE);
    let pairs = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(';'));
    let mut values =
        pairs.filter_map(|pair| pair.trim().split_once('=')).filter_map(|(key, value)| {
            let fits = value.len() == SECRET && value.bytes().all(|byte| byte.is_ascii_hexdigit());
            (key == name && fits).then_some(value)
        });
    values.next().map(str::to_owned)
}
