//! Complete responses, and extension methods for sending requests.

use std::fmt::Write as _;
use std::future::Future;

use reqwest::RequestBuilder;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::must::must;

/// A complete response.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The response headers.
    pub headers: HeaderMap,
    /// The raw body, which isn't decompressed.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the value of a header, or an empty string if it is missing.
    ///
    /// # Panics
    /// Panics if the value isn't ASCII.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| must(name, value.to_str()))
    }

    /// Returns the body as text.
    ///
    /// # Panics
    /// Panics if the body isn't UTF-8.
    #[track_caller]
    pub fn text(&self) -> &str {
        must("read the body as text", std::str::from_utf8(&self.body))
    }

    /// Returns the body as JSON.
    ///
    /// # Panics
    /// Panics if the body isn't valid JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        self.parse()
    }

    /// Deserializes the body from JSON.
    ///
    /// # Panics
    /// Panics if the body isn't valid JSON.
    #[track_caller]
    pub fn parse<T: DeserializeOwned>(&self) -> T {
        match serde_json::from_slice(&self.body) {
            Ok(value) => value,
            Err(error) => panic!("{error} in {}", String::from_utf8_lossy(&self.body)),
        }
    }

    /// Checks the status, and returns the response for further checks.
    ///
    /// # Panics
    /// Panics if the status isn't `status`.
    #[must_use]
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// Formats the status, any of the given headers that are present, and the body for use in
    /// snapshots. JSON is indented.
    pub fn shown(&self, headers: &[&str]) -> String {
        let mut shown = self.status.to_string();
        for name in headers {
            for value in self.headers.get_all(*name) {
                let _ = write!(shown, "\n{name}: {}", String::from_utf8_lossy(value.as_bytes()));
            }
        }
        let body = match serde_json::from_slice::<Value>(&self.body) {
            Ok(json) => format!("{json:#}"),
            Err(_) => String::from_utf8_lossy(&self.body).into_owned(),
        };
        let _ = write!(shown, "\n\n{body}");
        shown
    }
}

/// Extension methods for requests made with [`TestServer`](crate::TestServer) or any other client.
///
/// ```no_run
/// use testkit::Exchange;
///
/// # async fn test(server: testkit::TestServer) {
/// let answer = server.post("/events").form(&[("title", "Talk")]).answer().await.expect(201);
/// assert_eq!(answer.json()["title"], "Talk");
/// # }
/// ```
pub trait Exchange: Sized {
    /// Sets an `application/x-www-form-urlencoded` body.
    #[must_use]
    fn form(self, fields: &[(&str, &str)]) -> Self;

    /// Sends the request and reads the complete response.
    ///
    /// # Panics
    /// Panics if there is no response.
    fn answer(self) -> impl Future<Output = Answer>;
}

impl Exchange for RequestBuilder {
    fn form(self, fields: &[(&str, &str)]) -> Self {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        let body = body.extend_pairs(fields).finish();
        self.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)
    }

    async fn answer(self) -> Answer {
        let response = must("send a request", self.send().await);
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = must("read an answer", response.bytes().await).to_vec();
        Answer { status, headers, body }
    }
}
