//! Fields of forms and queries.

use actix_web::http::Method;
use actix_web::{FromRequest, HttpRequest, dev};
use domain::EmailAddress;
use futures_util::future::LocalBoxFuture;

use super::failure::PageError;
use super::visitor::{SignedIn, Visitor};
use crate::error::Error;

/// Largest form.
const LIMIT: usize = 16 * 1024;

/// The fields of a form that was sent, or of a query.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    fn parse(bytes: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// A field; empty where it is absent.
    pub fn text(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(key, _)| key == name);
        field.map_or("", |(_, value)| value.as_str())
    }

    /// Whether a field is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// The address that somebody typed.
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
                return Ok(Self::parse(request.query_string().as_bytes()));
            }
            let bytes = shell::read_body(&request, &mut payload, LIMIT).await;
            let bytes = bytes.map_err(|_| PageError::Api(Error::Unreadable))?;
            Ok(Self::parse(&bytes))
        })
    }
}

/// A form with the token that its sender was given: another site cannot have made it.
pub struct Form<S> {
    /// Who sent it.
    pub sender: S,
    /// What it says.
    pub fields: Fields,
}

/// Who may send forms.
pub trait Sender: FromRequest<Error = PageError> {
    /// Whose token a form has.
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
