//! Fields of forms.

use actix_web::HttpRequest;
use actix_web::web::Payload;

use super::failure::PageError;
use crate::error::Error;

/// Largest form.
const LIMIT: usize = 16 * 1024;

/// The fields of a form, or of a query.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads a form.
    ///
    /// # Errors
    /// When it is too large or does not come.
    pub async fn read(request: &HttpRequest, payload: Payload) -> Result<Self, PageError> {
        let bytes = shell::read_body(request, &mut payload.into_inner(), LIMIT).await;
        let bytes = bytes.map_err(|_| PageError::Api(Error::Unreadable))?;
        Ok(Self::parse(&bytes))
    }

    /// Reads the query of a request.
    pub fn of_query(request: &HttpRequest) -> Self {
        Self::parse(request.query_string().as_bytes())
    }

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
}
