//! A real server on free ports, with a client for it.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder};
use shell::{Running, Server, Service, ShellSettings};

use crate::must::must;
use crate::{Folder, RawAnswer, exchange};

/// A service that serves on free loopback ports in the actix system of the test.
///
/// Use it in tests marked `#[actix_web::test]`. The client follows no redirects and does not
/// unpack compressed bodies, so that a test sees what was sent.
///
/// ```no_run
/// use testkit::{Exchange, TestServer};
///
/// # async fn test<S: shell::Service>(service: S) {
/// let server = TestServer::start(service).await.with_header("user-agent", "tests");
/// let answer = server.get("/api/v3/breaches").answer().await.expect(200);
/// assert_eq!(answer.header("content-type"), "application/json");
/// # }
/// ```
pub struct TestServer {
    running: Running,
    client: Client,
    headers: HeaderMap,
    _folder: Folder,
}

impl TestServer {
    /// Starts `service` with the settings for tests.
    ///
    /// # Panics
    /// When the server cannot start.
    pub async fn start<S: Service>(service: S) -> Self {
        Self::start_with(service, |_| ()).await
    }

    /// Starts `service` with changed settings.
    ///
    /// # Panics
    /// When the server cannot start.
    pub async fn start_with<S: Service>(
        service: S,
        change: impl FnOnce(&mut ShellSettings),
    ) -> Self {
        let folder = Folder::new();
        let mut settings = ShellSettings::for_tests(folder.path());
        change(&mut settings);
        let running = Server::start(&settings, service).await;
        let running = must("start the server", running.map_err(|error| format!("{error:#}")));
        Self { running, client: client(), headers: HeaderMap::new(), _folder: folder }
    }

    /// Sends a header with every request.
    ///
    /// # Panics
    /// When it is no header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        let value = must(name, HeaderValue::from_str(value));
        self.headers.insert(HeaderName::from_static(name), value);
        self
    }

    /// URL of a path on the plain HTTP port.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.http)
    }

    /// URL of a path on the admin port.
    pub fn admin_url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.admin)
    }

    /// The addresses.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A GET request.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// A HEAD request.
    pub fn head(&self, path: &str) -> RequestBuilder {
        self.request(Method::HEAD, path)
    }

    /// A POST request.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }

    /// A PUT request.
    pub fn put(&self, path: &str) -> RequestBuilder {
        self.request(Method::PUT, path)
    }

    /// A PATCH request.
    pub fn patch(&self, path: &str) -> RequestBuilder {
        self.request(Method::PATCH, path)
    }

    /// A DELETE request.
    pub fn delete(&self, path: &str) -> RequestBuilder {
        self.request(Method::DELETE, path)
    }

    /// A request with any method.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path)).headers(self.headers.clone())
    }

    /// A GET request to the admin port.
    pub fn admin(&self, path: &str) -> RequestBuilder {
        self.client.get(self.admin_url(path))
    }

    /// Sends bytes as they are and reads until the server closes.
    ///
    /// # Panics
    /// When there is no HTTP answer.
    pub async fn raw(&self, request: impl Into<Vec<u8>>) -> RawAnswer {
        let (address, request) = (self.running.http, request.into());
        let answer = tokio::task::spawn_blocking(move || exchange(address, &request)).await;
        must("exchange bytes", answer)
    }

    /// Stops the server gracefully.
    pub async fn stop(self) {
        self.running.stop().await;
    }
}

/// A client that follows no redirects and shows bodies as they were sent.
pub fn client() -> Client {
    // Whoever comes second finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client =
        Client::builder().redirect(reqwest::redirect::Policy::none()).no_gzip().no_brotli();
    must("make an HTTP client", client.build())
}
