//! An in-process server on free ports, and a client for it.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use shell::{Running, Server, Service, ShellSettings};

use crate::must::must;
use crate::{Folder, RawAnswer, exchange};

/// A service that runs on free loopback ports in the test's actix system.
///
/// Use this in tests marked `#[actix_web::test]`. The client neither follows redirects nor
/// decompresses bodies.
///
/// ```no_run
/// use testkit::{Exchange, TestServer};
///
/// # async fn test<S: shell::Service>(service: S) {
/// let server = TestServer::start(service).await;
/// let answer = server.get("/api/v3/breaches").answer().await.expect(200);
/// assert_eq!(answer.header("content-type"), "application/json");
/// # }
/// ```
pub struct TestServer {
    running: Running,
    client: Client,
    _folder: Folder,
}

impl TestServer {
    /// Starts `service` with test settings.
    ///
    /// # Panics
    /// Panics if the server cannot start.
    pub async fn start<S: Service>(service: S) -> Self {
        Self::start_with(service, |_| ()).await
    }

    /// Starts `service` with modified test settings.
    ///
    /// # Panics
    /// Panics if the server cannot start.
    pub async fn start_with<S: Service>(
        service: S,
        change: impl FnOnce(&mut ShellSettings),
    ) -> Self {
        let folder = Folder::new();
        let mut settings = ShellSettings::for_tests(folder.path());
        change(&mut settings);
        let running = Server::start(&settings, service).await;
        let running = must("start the server", running.map_err(|error| format!("{error:#}")));
        Self { running, client: client(), _folder: folder }
    }

    /// Returns the URL of `path` on the plain HTTP port.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.http)
    }

    /// Returns the URL of `path` on the admin port.
    pub fn admin_url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.admin)
    }

    /// Returns the running server, which has its addresses.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Returns the HTTP client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Creates a GET request.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// Creates a HEAD request.
    pub fn head(&self, path: &str) -> RequestBuilder {
        self.request(Method::HEAD, path)
    }

    /// Creates a POST request.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }

    /// Creates a PUT request.
    pub fn put(&self, path: &str) -> RequestBuilder {
        self.request(Method::PUT, path)
    }

    /// Creates a PATCH request.
    pub fn patch(&self, path: &str) -> RequestBuilder {
        self.request(Method::PATCH, path)
    }

    /// Creates a DELETE request.
    pub fn delete(&self, path: &str) -> RequestBuilder {
        self.request(Method::DELETE, path)
    }

    /// Creates a request with the given method.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path))
    }

    /// Creates a GET request to the admin port.
    pub fn admin(&self, path: &str) -> RequestBuilder {
        self.client.get(self.admin_url(path))
    }

    /// Sends raw bytes and reads until the server closes the connection.
    ///
    /// # Panics
    /// Panics if the server doesn't send an HTTP response.
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

/// Returns a client that neither follows redirects nor decompresses bodies.
pub fn client() -> Client {
    // This fails if a provider is already installed. That's fine.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let client =
        Client::builder().redirect(reqwest::redirect::Policy::none()).no_gzip().no_brotli();
    // Servers close idle connections after 5 seconds. Close them well before that, so that no
    // request is sent while the server is closing the connection.
    let client = client.pool_idle_timeout(Duration::from_secs(2));
    must("make an HTTP client", client.build())
}
