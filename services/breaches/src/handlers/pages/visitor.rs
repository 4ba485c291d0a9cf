//! Identifies visitors by their session, or otherwise by a cookie for CSRF tokens.

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

/// Name of the session cookie.
const SESSION: &str = "session";
/// Name of the cookie for visitors without a session.
const VISITOR: &str = "visitor";
/// Length of the secrets in cookies, in characters.
const SECRET: usize = 64;

/// The subscriber who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// Subscriber id.
    pub id: i64,
    /// Email address.
    pub email: String,
}

/// A visitor to our pages.
pub struct Visitor {
    /// Client IP address.
    pub client: IpAddr,
    /// Set if the visitor is signed in.
    pub subscriber: Option<Subscriber>,
    secret: String,
    is_new: bool,
    cookies: Cookies,
    /// Key for CSRF tokens.
    key: FormKey,
    /// Base path of the site, with a trailing slash.
    root: String,
}

/// How the site's cookies are named and protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cookies {
    /// For a site that has the whole host. Other hosts and unencrypted connections can't set the
    /// cookies.
    Host,
    /// For a site on part of a host. Unencrypted connections can't set the cookies.
    Path,
    /// For a site without TLS. The cookies aren't protected at all.
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

    /// Returns the full name of a cookie. Browsers enforce the rules that its prefix implies.
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

    /// Returns the CSRF token to put in forms.
    pub fn csrf(&self) -> String {
        self.key.token(&self.secret)
    }

    /// Checks a form's CSRF token.
    ///
    /// # Errors
    /// [`PageError::Forged`] if it doesn't match.
    pub fn check(&self, csrf: &str) -> Result<(), PageError> {
        let same = self.csrf().as_bytes().ct_eq(csrf.as_bytes());
        if self.is_new || !bool::from(same) { Err(PageError::Forged) } else { Ok(()) }
    }

    /// Responds with a page. New visitors also get the cookie to which their CSRF tokens are tied.
    pub fn respond(&self, page: &Page<'_>, main: &impl Template) -> HttpResponse {
        let mut response = SITE.respond(&page.clone().root(&self.root), main);
        if self.is_new {
            self.set_cookie(&mut response, VISITOR, &self.secret, 24 * 3600);
        }
        response
    }

    /// Responds with a message. `current` is the page to highlight in the navigation.
    pub fn message(&self, current: &str, message: &Message<'_>) -> HttpResponse {
        self.respond(&Page::new(message.title).current(current), message)
    }

    /// Responds with a message after rejecting a form.
    pub fn refuse(&self, current: &str, message: &Message<'_>) -> HttpResponse {
        refused(StatusCode::BAD_REQUEST, self.message(current, message))
    }

    /// Sets the session cookie.
    pub fn begin(&self, response: &mut HttpResponse, token: &str, seconds: i64) {
        self.set_cookie(response, SESSION, token, seconds);
    }

    /// Deletes the session cookie.
    pub fn end(&self, response: &mut HttpResponse) {
        self.set_cookie(response, SESSION, "", 0);
    }

    /// Returns the session's secret.
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
    pub subscriber: Subscriber,
    visitor: Visitor,
}

impl SignedIn {
    /// Returns data for the layout of the account pages.
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

/// Reads a cookie, provided that it looks like one of our secrets.
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
