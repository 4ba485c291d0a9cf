//! A real server on free ports, with a client for it.

use std::path::{Path, PathBuf};

use reqwest::{Client, Method, RequestBuilder};
use shell::{Running, Server, Service, ShellSettings};
use tempfile::TempDir;

/// A folder that is removed at the end of the test.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    /// Makes an empty folder.
    ///
    /// # Panics
    /// When the system's temporary folder cannot be written.
    #[expect(clippy::new_without_default, reason = "it makes something outside the process")]
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}")))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A path inside it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and tells its path.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
        }
        std::fs::write(&path, content)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }
}

/// A service that serves on free loopback ports in the actix system of the test.
///
/// Use it in tests marked `#[actix_web::test]`. The client follows no redirects and does not
/// unpack compressed bodies, so that a test sees what was sent.
pub struct TestServer {
    running: Running,
    client: Client,
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
        let running = Server::start(&settings, service)
            .await
            .unwrap_or_else(|error| panic!("the server cannot start: {error:#}"));
        Self { running, client: client(), _folder: folder }
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

    /// A POST request.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }

    /// A request with any method.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path))
    }

    /// Stops the server gracefully.
    pub async fn stop(self) {
        self.running.stop().await;
    }
}

fn client() -> Client {
    Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_gzip()
        .no_brotli()
        .build()
        .unwrap_or_else(|error| panic!("no HTTP client: {error}"))
}
