//! Downloads of a domain's addresses.

use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder};

use crate::error::Error;

/// Format of a download.
#[derive(Clone, Copy)]
pub enum DownloadFormat {
    /// The same as in the API.
    Json,
    Csv,
}

impl DownloadFormat {
    /// Parses the format in a path.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such format.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match text {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            _ => Err(Error::NotFound),
        }
    }

    /// Begins the response. `name` is the file name without its extension.
    pub fn response(self, name: &str) -> HttpResponseBuilder {
        let (extension, content_type) = match self {
            Self::Json => ("json", "application/json"),
            Self::Csv => ("csv", "text/csv; charset=utf-8"),
        };
        let disposition = format!("attachment; filename=\"{name}.{extension}\"");
        let mut response = HttpResponse::Ok();
        response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static("no-store")));
        response.insert_header((header::CONTENT_DISPOSITION, disposition));
        response.content_type(content_type);
        response
    }
}
