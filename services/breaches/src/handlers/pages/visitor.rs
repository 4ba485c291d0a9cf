//! Who looks at a page: their session or, without one, a cookie for the tokens of forms.

use std::net::IpAddr;

use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::pages::Page;
use subtle::ConstantTimeEq;

use super::account_frame::Frame;
use super::failure::PageError;
use super::form::Fields;
use super::site::SITE;
use crate::app;
use crate::error::Error;
use crate::state::State;

/// The cookie of those who are signed in.
const SESSION: &str = "session";
/// The cookie of everybody else.
const VISITOR: &str = "visitor";
/// Length of the secrets in cookies.
const SECRET: usize = 64;

/// Somebody who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// Number.
    pub id: i64,
    /// Address.
    pub email: String,
}

/// Whoever looks at a page.
pub struct Visitor {
    /// Their address in the network.
    pub client: IpAddr,
    /// Who they are, where they are signed in.
    pub subscriber: Option<Subscriber>,
    secret: String,
    is_new: bool,
    is_https: bool,
}

impl Visitor {
    /// Reads the cookies of a request.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn of(request: &HttpRequest, state: &State) -> Result<Self, Error> {
        let (client, is_https) = (shell::client_ip(request), shell::is_https(request));
        if let Some(secret) = cookie(request, SESSION)
            && let Some(found) = app::signed_in(state, &secret).await?
        {
            let subscriber = Some(Subscriber { id: found.subscriber, email: found.email });
            return Ok(Self { client, subscriber, secret, is_new: false, is_https });
        }
        let (secret, is_new) = match cookie(request, VISITOR) {
            Some(secret) => (secret, false),
            None => (app::visitor_secret()?, true),
        };
        Ok(Self { client, subscriber: None, secret, is_new, is_https })
    }

    /// The same, signed in.
    ///
    /// # Errors
    /// [`PageError::SignIn`].
    pub async fn signed_in(
        request: &HttpRequest,
        state: &State,
    ) -> Result<(Self, Subscriber), PageError> {
        let visitor = Self::of(request, state).await?;
        match visitor.subscriber.clone() {
            Some(subscriber) => Ok((visitor, subscriber)),
            None => Err(PageError::SignIn),
        }
    }

    /// The token of forms.
    pub fn csrf(&self) -> String {
        app::form_token(&self.secret)
    }

    /// Whether a form is one of ours.
    ///
    /// # Errors
    /// [`PageError::Forged`].
    pub fn check(&self, fields: &Fields) -> Result<(), PageError> {
        let same = self.csrf().as_bytes().ct_eq(fields.text("csrf").as_bytes());
        if self.is_new || !bool::from(same) { Err(PageError::Forged) } else { Ok(()) }
    }

    /// What every page of the account has.
    pub fn frame(&self, subscriber: &Subscriber, current: &'static str) -> Frame {
        Frame { csrf: self.csrf(), email: subscriber.email.clone(), current }
    }

    /// Answers a page; a new visitor gets the cookie that the tokens of its forms belong to.
    pub fn respond(&self, page: &Page<'_>, main: &impl Template) -> HttpResponse {
        let mut response = SITE.respond(page, main);
        if self.is_new {
            self.set_cookie(&mut response, VISITOR, &self.secret, 24 * 3600);
        }
        response
    }

    /// Begins a session in the browser.
    pub fn begin(&self, response: &mut HttpResponse, token: &str, seconds: i64) {
        self.set_cookie(response, SESSION, token, seconds);
    }

    /// Ends the session in the browser.
    pub fn end(&self, response: &mut HttpResponse) {
        self.set_cookie(response, SESSION, "", 0);
    }

    /// What the session is known by.
    pub fn session(&self) -> &str {
        &self.secret
    }

    fn set_cookie(&self, response: &mut HttpResponse, name: &str, value: &str, seconds: i64) {
        let secure = if self.is_https { "; Secure" } else { "" };
        let cookie =
            format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
}

/// A cookie that is a secret of ours.
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
