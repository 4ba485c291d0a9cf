//! A service's constants.

use clap::ValueEnum;

/// Selects where TLS is terminated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TlsMode {
    /// Serve plain HTTP without redirecting to HTTPS.
    Off,
    /// Serve plain HTTP behind a proxy in `TRUSTED_PROXIES` that terminates TLS and sends
    /// `x-forwarded-proto`. Other requests are redirected to HTTPS with a 301.
    Proxy,
    /// Serve HTTPS on `TLS_BIND` and redirect plain HTTP to it with a 301.
    Native,
}

/// A service's constants.
#[derive(Clone, Copy, Debug)]
pub struct ServiceInfo {
    /// The name of the binary, its data folder and its database, e.g. `passwords`.
    pub name: &'static str,
    /// The display name, e.g. `Password range service`.
    pub title: &'static str,
    /// A one-sentence description for `--help`.
    pub about: &'static str,
    /// The version of the binary, usually `env!("CARGO_PKG_VERSION")`.
    pub version: &'static str,
    /// The plain HTTP port.
    pub http_port: u16,
    /// The HTTPS port, used in `native` TLS mode.
    pub https_port: u16,
    /// The port for health checks and metrics.
    pub admin_port: u16,
    /// The default `TLS_MODE`.
    pub tls_mode: TlsMode,
    /// Files in the data folder whose names don't start with the service's name, e.g. `media`.
    pub files: &'static [&'static str],
}

impl ServiceInfo {
    /// Creates the constants for a service without TLS. The HTTPS and admin ports are 400 and 1000
    /// above the HTTP port.
    ///
    /// ```
    /// use shell::{ServiceInfo, TlsMode};
    ///
    /// const INFO: ServiceInfo = ServiceInfo::new("clock", "Clock", "Serves the time", "1.0.0", 8090)
    ///     .tls(TlsMode::Native);
    /// assert_eq!((INFO.http_port, INFO.https_port, INFO.admin_port), (8090, 8490, 9090));
    /// ```
    pub const fn new(
        name: &'static str,
        title: &'static str,
        about: &'static str,
        version: &'static str,
        http_port: u16,
    ) -> Self {
        Self {
            name,
            title,
            about,
            version,
            http_port,
            https_port: http_port + 400,
            admin_port: http_port + 1000,
            tls_mode: TlsMode::Off,
            files: &[],
        }
    }

    /// Sets the default TLS mode.
    pub const fn tls(self, tls_mode: TlsMode) -> Self {
        Self { tls_mode, ..self }
    }

    /// Sets the files in the data folder whose names don't start with the service's name.
    pub const fn files(self, files: &'static [&'static str]) -> Self {
        Self { files, ..self }
    }
}

/// The error body as described in the OpenAPI document.
#[derive(Clone, Copy, Debug)]
pub struct ErrorBody {
    /// The name of its schema, which must be one of the components in
    /// [`Service::document`](crate::Service::document).
    pub schema: &'static str,
    /// Its media type, e.g. `application/json`.
    pub media_type: &'static str,
}
