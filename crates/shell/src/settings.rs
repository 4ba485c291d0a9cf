//! The settings of every service.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PathBufValueParser, TypedValueParser};
use ipnet::IpNet;

use crate::info::{ServiceInfo, TlsMode};
use crate::listen::ListenAddress;

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Enabled.
    #[value(alias = "true", alias = "1", alias = "yes")]
    On,
    /// Disabled.
    #[value(alias = "false", alias = "0", alias = "no")]
    Off,
}

impl Switch {
    /// Returns whether the setting is on.
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Human-readable text.
    Text,
    /// One JSON object per line.
    Json,
}

/// How much of client addresses to show in the access log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogClient {
    /// Omit the address.
    None,
    /// Log only the network: the first 24 bits of an IPv4 address or the first 48 bits of an IPv6
    /// address.
    Net,
    /// Log the full address.
    Full,
}

/// A setting that the command line accepts but that the service can't use, for example because
/// another setting is missing. As with a usage error, the process exits with code 2. The message
/// must not quote secrets.
#[derive(Debug)]
pub struct SettingError(pub String);

impl std::fmt::Display for SettingError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SettingError {}

/// Settings of the HTTP shell.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Server", about = None, long_about = None)]
pub struct ShellSettings {
    /// Comma-separated addresses to listen on for plain HTTP: HOST:PORT (IPv6 in brackets) or
    /// unix:/PATH
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "ADDRESS")]
    pub bind: Vec<ListenAddress>,
    /// Comma-separated addresses to listen on for HTTPS if TLS_MODE is native, in the same format
    /// as BIND
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "ADDRESS")]
    pub tls_bind: Vec<ListenAddress>,
    /// Comma-separated addresses for health checks and metrics, served over plain HTTP: HOST:PORT
    /// (IPv6 in brackets)
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "ADDRESS", value_parser = tcp_address)]
    pub admin_bind: Vec<ListenAddress>,
    /// How TLS is terminated
    #[arg(long, env, global = true, value_enum)]
    pub tls_mode: TlsMode,
    /// PEM file with the certificate chain [default: a certificate issued by a local CA, both
    /// generated in TLS_DIR]
    #[arg(long, env, global = true, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// PEM file with the private key for TLS_CERT
    #[arg(long, env, global = true, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Folder for the generated CA and certificate [default: DATA_DIR/tls]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub tls_dir: Option<PathBuf>,
    /// Comma-separated addresses and CIDR blocks of proxies whose x-forwarded-* headers are trusted
    #[arg(long, env, global = true, value_delimiter = ',', value_name = "CIDR", value_parser = network)]
    pub trusted_proxies: Vec<IpNet>,
    /// Expect a PROXY protocol header (version 1 or 2) on connections from TRUSTED_PROXIES to BIND
    /// and TLS_BIND
    #[arg(long, env, global = true, value_enum, default_value_t = Switch::Off)]
    pub proxy_protocol: Switch,
    /// Public base URL of the service, without a trailing slash
    #[arg(long, env, global = true, value_name = "URL", value_parser = absolute_url)]
    pub public_url: Option<String>,
    /// Folder for the service's data
    #[arg(long, env, global = true, value_name = "FOLDER", value_parser = PathBufValueParser::new().try_map(without_blank_ends))]
    pub data_dir: PathBuf,
    /// Number of worker threads, 1 to 512 [default: number of CPU cores]
    #[arg(long, env, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    pub workers: Option<u16>,
    /// Seconds to keep accepting connections after SIGTERM, 0 to 600. During this time, /readyz
    /// returns 503 and clients are asked to close their connections
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=600))]
    pub drain_seconds: u64,
    /// Seconds that open requests have to finish after DRAIN_SECONDS, 0 to 3600
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(..=3600))]
    pub shutdown_timeout: u64,
    /// Timeout in seconds for receiving a complete request head, 1 to 600
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub head_timeout: u64,
    /// Timeout in seconds for receiving each 1 KiB of a request body, 1 to 3600
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub body_timeout: u64,
    /// Timeout in seconds for a client to read each 1 KiB of its response, 1 to 3600
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub write_timeout: u64,
    /// Maximum number of open connections, 1 to 1000000. New connections wait until one closes
    #[arg(long, env, global = true, value_name = "N", default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_connections: u32,
    /// Maximum number of open connections per client address (per /64 network for IPv6), 1 to
    /// 1000000. Excess connections are closed; TRUSTED_PROXIES are exempt [default: one eighth of
    /// MAX_CONNECTIONS, at least 64]
    #[arg(long, env, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_connections_per_address: Option<u32>,
    /// Maximum number of concurrent requests per HTTP/2 connection, 1 to 1000
    #[arg(long, env, global = true, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max_requests_per_connection: u32,
    /// Format of the log on stderr. Use RUST_LOG to filter it
    #[arg(long, env, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// Log each request
    #[arg(long, env, global = true, value_enum, default_value_t = Switch::On)]
    pub access_log: Switch,
    /// How much of the client address to include in the access log
    #[arg(long, env, global = true, value_enum, default_value_t = LogClient::Net)]
    pub log_client: LogClient,
    /// OpenTelemetry collector that receives a span for each request in the access log (OTLP over
    /// HTTP, protobuf), such as http://collector:4318. Requires a build with the cargo feature
    /// `otlp`
    #[arg(long, env, global = true, value_name = "URL", value_parser = otlp_endpoint)]
    pub otlp_endpoint: Option<String>,
    /// Fraction of requests without a `traceparent` header that are sent to OTLP_ENDPOINT, 0 to 1
    #[arg(long, env, global = true, value_name = "RATIO", default_value_t = 1.0, value_parser = ratio)]
    pub otlp_ratio: f64,
}

fn otlp_endpoint(text: &str) -> Result<String, String> {
    if cfg!(not(feature = "otlp")) {
        return Err("this program was built without the cargo feature `otlp`".to_owned());
    }
    let url = text.strip_suffix('/').unwrap_or(text);
    let is_http = url.starts_with("http://") || url.starts_with("https://");
    let has_host = url.parse().is_ok_and(|url: actix_web::http::Uri| url.host().is_some());
    match is_http && has_host {
        true => Ok(url.to_owned()),
        false => Err("must be a URL such as http://collector:4318".to_owned()),
    }
}

fn ratio(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(ratio) if (0.0..=1.0).contains(&ratio) => Ok(ratio),
        _ => Err("must be a number from 0 to 1".to_owned()),
    }
}

impl ShellSettings {
    /// Returns settings for tests, with free ports, a single worker, and neither TLS nor an access
    /// log.
    pub fn for_tests(data_dir: &Path) -> Self {
        let free = vec![ListenAddress::Ip((Ipv4Addr::LOCALHOST, 0).into())];
        Self {
            bind: free.clone(),
            tls_bind: free.clone(),
            admin_bind: free,
            tls_mode: TlsMode::Off,
            tls_cert: None,
            tls_key: None,
            tls_dir: None,
            trusted_proxies: Vec::new(),
            proxy_protocol: Switch::Off,
            public_url: None,
            data_dir: data_dir.to_owned(),
            workers: Some(1),
            drain_seconds: 0,
            shutdown_timeout: 5,
            head_timeout: 10,
            body_timeout: 30,
            write_timeout: 30,
            max_connections: 8192,
            max_connections_per_address: None,
            max_requests_per_connection: 64,
            log_format: LogFormat::Text,
            access_log: Switch::Off,
            log_client: LogClient::Net,
            otlp_endpoint: None,
            otlp_ratio: 1.0,
        }
    }

    /// Returns the number of worker threads.
    pub fn worker_count(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.workers.map_or_else(cores, usize::from).clamp(1, 512)
    }

    /// Returns the path from `PUBLIC_URL` without a trailing slash. It is either empty or something
    /// like `/breaches`.
    pub(crate) fn base_path(&self) -> String {
        let url = self.public_url.as_deref().unwrap_or_default();
        let behind_scheme = url.split_once("://").map_or("", |(_, rest)| rest);
        behind_scheme.find('/').map_or("", |at| &behind_scheme[at..]).to_owned()
    }

    /// Returns the base URL for links in mails and webhooks: `PUBLIC_URL`, or else the first
    /// address that the service listens on. We can't use the host from a request for these, because
    /// it is under the client's control.
    pub fn base_url(&self) -> String {
        let (scheme, addresses) = match self.tls_mode {
            TlsMode::Native => ("https", &self.tls_bind),
            TlsMode::Proxy => ("https", &self.bind),
            TlsMode::Off => ("http", &self.bind),
        };
        match (&self.public_url, addresses.first()) {
            (Some(url), _) => url.clone(),
            (None, Some(ListenAddress::Ip(address))) if is_local(address.ip()) => {
                format!("{scheme}://localhost:{}", address.port())
            }
            (None, Some(ListenAddress::Ip(address))) => format!("{scheme}://{address}"),
            (None, Some(ListenAddress::Name(address))) => format!("{scheme}://{address}"),
            (None, Some(ListenAddress::Unix(_)) | None) => format!("{scheme}://localhost"),
        }
    }

    /// Returns the hosts, with port and path, that clients use to reach the service. They come from
    /// `PUBLIC_URL`, or else from the addresses that the service listens on. A local address has
    /// several names.
    pub fn hosts(&self) -> Vec<String> {
        if let Some(url) = &self.public_url {
            return vec![url.split_once("://").map_or(url.as_str(), |(_, host)| host).to_owned()];
        }
        let (addresses, usual) = match self.tls_mode {
            TlsMode::Native => (&self.tls_bind, 443),
            TlsMode::Proxy | TlsMode::Off => (&self.bind, 80),
        };
        let names = addresses.iter().flat_map(|address| match address {
            ListenAddress::Ip(address) => {
                let ip = match address.ip() {
                    IpAddr::V4(ip) => ip.to_string(),
                    IpAddr::V6(ip) => format!("[{ip}]"),
                };
                let names = match is_local(address.ip()) {
                    true => ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec(),
                    false => vec![ip],
                };
                let port = Some(address.port()).filter(|port| *port != usual);
                let suffix = port.map_or_else(String::new, |port| format!(":{port}"));
                names.into_iter().map(|name| format!("{name}{suffix}")).collect()
            }
            ListenAddress::Name(address) => {
                let suffix = format!(":{usual}");
                vec![address.strip_suffix(&suffix).unwrap_or(address).to_owned()]
            }
            ListenAddress::Unix(_) => Vec::new(),
        });
        names.collect()
    }

    /// Returns a warning if a setting relies on a proxy, but no proxy is trusted. Proxies on Unix
    /// sockets are always trusted.
    pub(crate) fn proxy_warning(&self) -> Option<&'static str> {
        let is_unix = |address: &ListenAddress| matches!(address, ListenAddress::Unix(_));
        let has_proxies =
            !self.trusted_proxies.is_empty() || self.bind.iter().chain(&self.tls_bind).any(is_unix);
        if has_proxies {
            None
        } else if self.tls_mode == TlsMode::Proxy {
            Some("TLS_MODE=proxy: all requests get a 301, because TRUSTED_PROXIES is empty")
        } else if self.proxy_protocol.is_on() {
            Some("PROXY_PROTOCOL=on has no effect, because TRUSTED_PROXIES is empty")
        } else {
            None
        }
    }

    /// Returns the folder for the local CA and certificate.
    pub fn tls_folder(&self) -> PathBuf {
        self.tls_dir.clone().unwrap_or_else(|| self.data_dir.join("tls"))
    }
}

/// Returns whether a server with this address can be reached as `localhost` from this machine.
fn is_local(ip: IpAddr) -> bool {
    ip.is_unspecified() || ip.is_loopback()
}

/// Sets the service's defaults for the arguments in [`ShellSettings`].
pub(crate) fn with_defaults(command: clap::Command, info: &ServiceInfo) -> clap::Command {
    let address = |port: u16| format!("127.0.0.1:{port}");
    let mode = info.tls_mode.to_possible_value().map_or_else(String::new, |v| v.get_name().into());
    [
        ("bind", address(info.http_port)),
        ("tls_bind", address(info.https_port)),
        ("admin_bind", address(info.admin_port)),
        ("tls_mode", mode),
        ("data_dir", format!("data/{}", info.name)),
    ]
    .into_iter()
    .fold(command, |command, (id, default)| {
        command.mut_arg(id, |arg| arg.required(false).default_value(default))
    })
}

/// Rejects a path that begins or ends with a blank. Otherwise, a slip in a settings file would make
/// the service start over with new, empty data.
fn without_blank_ends(path: PathBuf) -> Result<PathBuf, String> {
    let bytes = path.as_os_str().as_encoded_bytes();
    match bytes.trim_ascii().len() == bytes.len() {
        true => Ok(path),
        false => Err("must not begin or end with a blank".to_owned()),
    }
}

fn tcp_address(text: &str) -> Result<ListenAddress, String> {
    match text.parse()? {
        ListenAddress::Unix(_) => Err(format!("{text} is a Unix socket: use HOST:PORT")),
        address => Ok(address),
    }
}

/// Parses an address or a CIDR block. Like client addresses, IPv4-mapped ones are converted to
/// IPv4.
///
/// # Errors
/// Returns an error if `text` is neither.
pub fn network(text: &str) -> Result<IpNet, String> {
    let network = text
        .parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| format!("{text} is neither an address nor a CIDR block such as 10.0.0.0/8"))?;
    let mapped = match network {
        IpNet::V6(block) => block.addr().to_ipv4_mapped().zip(block.prefix_len().checked_sub(96)),
        IpNet::V4(_) => None,
    };
    Ok(mapped.and_then(|(address, bits)| IpNet::new(address.into(), bits).ok()).unwrap_or(network))
}

fn absolute_url(text: &str) -> Result<String, String> {
    let text = text.trim_end_matches('/');
    let is_usable = |uri: &actix_web::http::Uri| {
        let plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        plain && matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none()
    };
    match text.parse() {
        Ok(uri) if is_usable(&uri) && !text.contains('#') => Ok(text.to_owned()),
        _ => Err("must be an absolute URL such as https://service.example.org".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Program {
        #[command(flatten)]
        shell: ShellSettings,
    }

    #[test]
    fn numbers_out_of_their_range_are_refused() {
        use clap::{CommandFactory, FromArgMatches};
        let info = ServiceInfo::new("test", "", "", "1", 1);
        let parse = |line: &[&str]| {
            let command = with_defaults(Program::command(), &info);
            command.try_get_matches_from(line).and_then(|found| Program::from_arg_matches(&found))
        };
        assert_eq!(parse(&["x", "--workers=512"]).unwrap().shell.worker_count(), 512);
        for flag in [
            "--workers=0",
            "--workers=600",
            "--shutdown-timeout=3601",
            "--drain-seconds=601",
            "--head-timeout=0",
            "--body-timeout=0",
            "--write-timeout=-1",
            "--max-connections=0",
            "--max-connections-per-address=0",
            "--bind=localhost",
            "--data-dir=data ",
            "--data-dir=\tdata",
            "--admin-bind=unix:/run/admin",
            "--max-requests-per-connection=1001",
        ] {
            assert!(parse(&["x", flag]).is_err(), "{flag}");
        }
    }

    #[test]
    fn links_begin_with_the_public_url_or_the_first_address() {
        let mut settings = ShellSettings::for_tests(Path::new("data"));
        for (mode, bind, url) in [
            (TlsMode::Off, "127.0.0.1:81", "http://localhost:81"),
            (TlsMode::Off, "[::]:81", "http://localhost:81"),
            (TlsMode::Off, "192.0.2.1:81", "http://192.0.2.1:81"),
            (TlsMode::Proxy, "[2001:db8::1]:81", "https://[2001:db8::1]:81"),
            (TlsMode::Proxy, "a.example:81", "https://a.example:81"),
            (TlsMode::Native, "unix:/run/a", "https://localhost:444"),
        ] {
            settings.tls_mode = mode;
            settings.bind = vec![bind.parse().unwrap()];
            settings.tls_bind = vec!["0.0.0.0:444".parse().unwrap()];
            assert_eq!(settings.base_url(), url);
        }
        settings.tls_bind.clear();
        assert_eq!(settings.base_url(), "https://localhost");
        settings.public_url = Some("https://a.example/b".to_owned());
        assert_eq!(settings.base_url(), "https://a.example/b");
    }

    #[test]
    fn hosts_are_that_of_the_public_url_or_those_of_the_addresses() {
        let mut settings = ShellSettings::for_tests(Path::new("data"));
        let binds = ["127.0.0.1:81", "192.0.2.1:80", "[2001:db8::1]:81", "a.example:80", "unix:/a"];
        settings.bind = binds.iter().map(|bind| bind.parse().unwrap()).collect();
        let local = ["localhost:81", "127.0.0.1:81", "[::1]:81"];
        let hosts = [&local[..], &["192.0.2.1", "[2001:db8::1]:81", "a.example"]].concat();
        assert_eq!(settings.hosts(), hosts);
        settings.tls_mode = TlsMode::Native;
        settings.tls_bind = vec!["0.0.0.0:443".parse().unwrap()];
        assert_eq!(settings.hosts(), ["localhost", "127.0.0.1", "[::1]"]);
        settings.public_url = Some("https://a.example/b".to_owned());
        assert_eq!(settings.hosts(), ["a.example/b"]);
    }

    #[test]
    fn settings_for_a_proxy_without_a_trusted_proxy_are_warned_about() {
        let mut settings = ShellSettings::for_tests(Path::new("data"));
        assert_eq!(settings.proxy_warning(), None);
        settings.proxy_protocol = Switch::On;
        assert!(settings.proxy_warning().unwrap().starts_with("PROXY_PROTOCOL=on "));
        settings.tls_mode = TlsMode::Proxy;
        assert!(settings.proxy_warning().unwrap().starts_with("TLS_MODE=proxy: "));
        let mut on_a_socket = settings.clone();
        on_a_socket.bind = vec!["unix:/run/a".parse().unwrap()];
        assert_eq!(on_a_socket.proxy_warning(), None);
        settings.trusted_proxies = vec![network("10.0.0.1").unwrap()];
        assert_eq!(settings.proxy_warning(), None);
    }

    #[test]
    fn networks_are_blocks_or_single_addresses() {
        assert_eq!(network("10.0.0.0/8").map(|net| net.prefix_len()), Ok(8));
        assert_eq!(network("::1").map(|net| net.prefix_len()), Ok(128));
        assert_eq!(network("::ffff:10.0.0.1"), network("10.0.0.1"));
        assert_eq!(network("::ffff:10.0.0.0/104"), network("10.0.0.0/8"));
        assert!(network("example.org").is_err());
    }

    #[test]
    fn public_urls_are_absolute_without_a_final_slash() {
        assert_eq!(absolute_url("https://a.example/x/"), Ok("https://a.example/x".to_owned()));
        let unusable =
            ["a.example", "ftp://a.example", "https://me:pw@a.example", "https://a.example?x"];
        for text in unusable.into_iter().chain(["https://a.example#x"]) {
            assert!(absolute_url(text).is_err(), "{text}");
        }
    }
}
