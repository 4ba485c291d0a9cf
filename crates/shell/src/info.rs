//! The constants of a service.

use clap::ValueEnum;

/// The party that terminates TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TlsMode {
    /// Plain HTTP is served, without a redirect.
    Off,
    /// A proxy in `TRUSTED_PROXIES` terminates TLS and sends `x-forwarded-proto`.
    Proxy,
    /// HTTPS on `TLS_BIND`; plain HTTP gets a 301.
    Native,
}

/// The constants of a service.
#[derive(Clone, Copy, Debug)]
pub struct ServiceInfo {
    /// Name of the binary, of its data folder and of its database, such as `passwords`.
    pub name: &'static str,
    /// Display name, such as `Password range service`.
    pub title: &'static str,
    /// One sentence for `--help`.
    pub about: &'static str,
    /// Version of the binary, usually `env!("CARGO_PKG_VERSION")`.
    pub version: &'static str,
    /// Port of plain HTTP.
    pub http_port: u16,
    /// Port of HTTPS in the TLS mode `native`.
    pub https_port: u16,
    /// Port of health and metrics.
    pub admin_port: u16,
    /// The default of `TLS_MODE`.
    pub tls_mode: TlsMode,
    /// Files and folders in the data folder whose names do not begin with the name of the service,
    /// such as `media`.
    pub files: &'static [&'static str],
}

impl ServiceInfo {
    /// Creates the constants of a service with the usual ports (HTTPS 400 and admin 1000 above
    /// HTTP) and without TLS.
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

    /// Sets the files and folders in the data folder whose names do not begin with the name of the
    /// service.
    pub const fn files(self, files: &'static [&'static str]) -> Self {
        Self { files, ..self }
    }
}

/// The body of errors in the OpenAPI document.
#[derive(Clone, Copy, Debug)]
pub struct ErrorBody {
    /// Name of a schema among the components of [`Service::document`](crate::Service::document).
    pub schema: &'static str,
    /// Its media type, such as `application/json`.
    pub media_type: &'static str,
}
