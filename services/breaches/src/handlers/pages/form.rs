//! Form and query fields.

use actix_web::http::Method;
use actix_web::{FromRequest, HttpRequest, dev};
use domain::EmailAddress;
use futures_util::future::LocalBoxFuture;

use super::failure::PageError;
use super::visitor::{SignedIn, Visitor};
use crate::error::Error;

/// Maximum size of a form in bytes.
const LIMIT: usize = 16 * 1024;

/// Fields from a form or query.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses fields. They must not contain NUL, which PostgreSQL rejects even in a comparison.
    fn parse(bytes: &[u8]) -> Result<Self, PageError> {
        let fields: Vec<_> = url::form_urlencoded::parse(bytes).into_owned().collect();
        match fields.iter().any(|(_, value): &(String, String)| value.contains('\0')) {
            true => Err(PageError::Api(Error::Unreadable)),
            false => Ok(Self(fields)),
        }
    }

    /// Returns the value of a field. Empty if the field is missing.
    pub fn text(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(key, _)| key == name);
        field.map_or("", |(_, value)| value.as_str())
    }

    /// Returns `true` if the field exists.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Returns the address that was entered.
    ///
    /// # Errors
    /// [`Error::Email`].
    pub fn email(&self) -> Result<EmailAddress, PageError> {
        EmailAddress::parse(self.text("email")).map_err(|_| PageError::Api(Error::Email))
    }
}

impl FromRequest for Fields {
    type Error = PageError;
    type Future = LocalBoxFuture<'static, Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, payload: &mut dev::Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            if request.method() != Method::POST {
                return Self::parse(request.query_string().as_bytes());
            }
            let bytes = shell::read_body(&request, &mut payload, LIMIT).await;
            let bytes = bytes.map_err(|_| PageError::Api(Error::Unreadable))?;
            Self::parse(&bytes)
        })
    }
}

/// A form with a valid CSRF token.
pub struct Form<S> {
    pub sender: S,
    pub fields: Fields,
}

/// Extractor for the visitor who submitted a form.
pub trait Sender: FromRequest<Error = PageError> {
    /// Returns the visitor that the CSRF token must belong to.
    fn visitor(&self) -> &Visitor;
}

impl Sender for Visitor {
    fn visitor(&self) -> &Visitor {
        self
    }
}

impl Sender for SignedIn {
    fn visitor(&self) -> &Visitor {
        self
    }
}

impl<S: Sender + 'static> FromRequest for Form<S> {
    type Error = PageError;
    type Future = LocalBoxFuture<'static, Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, payload: &mut dev::Payload) -> Self::Future {
        let sender = S::from_request(request, payload);
        let fields = Fields::from_request(request, payload);
        Box::pin(async move {
            let (sender, fields) = (sender.await?, fields.await?);
            sender.visitor().check(fields.text("csrf"))?;
            Ok(Self { sender, fields })
        })
    }
}

/// A request to turn off notices.
pub enum Unsubscribe {
    /// Sent with the form on our page.
    Form(Form<Visitor>),
    /// One-click request from an email client (RFC 8058). The token is in the query. There are no
    /// cookies and there is no CSRF token.
    OneClick {
        sender: Visitor,
        /// The link's secret.
        token: String,
    },
}

impl FromRequest for Unsubscribe {
    type Error = PageError;
    type Future = LocalBoxFuture<'static, Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, payload: &mut dev::Payload) -> Self::Future {
        let sender = Visitor::from_request(request, payload);
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let bytes = shell::read_body(&request, &mut payload, LIMIT).await;
            let bytes = bytes.map_err(|_| PageError::Api(Error::Unreadable))?;
            let (sender, fields) = (sender.await?, Fields::parse(&bytes)?);
            let query = Fields::parse(request.query_string().as_bytes())?;
            if query.has("token") && is_one_click(&fields, &bytes) {
                return Ok(Self::OneClick { sender, token: query.text("token").to_owned() });
            }
            sender.check(fields.text("csrf"))?;
            Ok(Self::Form(Form { sender, fields }))
        })
    }
}

/// Checks for the field defined by RFC 8058, which can also be sent as `multipart/form-data`.
fn is_one_click(fields: &Fields, body: &[u8]) -> bool {
    const FIELD: (&str, &str) = ("List-Unsubscribe", "One-Click");
    let body = String::from_utf8_lossy(body);
    let is_part = || {
        let mut lines = body.lines().map(str::trim);
        lines.any(|line| line.contains("form-data") && line.contains(FIELD.0))
            && lines.any(|line| line == FIELD.1)
    };
    fields.text(FIELD.0) == FIELD.1 || is_part()
}
