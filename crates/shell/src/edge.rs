//! Determines a request's scheme and client address, even behind proxies, and the service's public
//! URL.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use ipnet::IpNet;

use crate::connection::Transport;
use crate::host::{Host, host_of, names_valid_host};
use crate::{ShellSettings, TlsMode, connection};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The settings that these rules depend on, kept in the app data.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    mode: TlsMode,
    trusted: Arc<[IpNet]>,
    public_url: Option<Arc<str>>,
    /// The path from `PUBLIC_URL` without a trailing slash, e.g. `/breaches`, or empty.
    base_path: Arc<str>,
    https_port: Option<u16>,
    own_certificate: bool,
}

impl Edge {
    /// `https_port` is the port that TLS is served on.
    pub(crate) fn new(settings: &ShellSettings, https_port: Option<u16>) -> Self {
        Self {
            mode: settings.tls_mode,
            trusted: settings.trusted_proxies.clone().into(),
            public_url: settings.public_url.as_deref().map(Arc::from),
            base_path: settings.base_path().into(),
            https_port,
            own_certificate: settings.tls_cert.is_some(),
        }
    }

    /// Returns whether to send `Strict-Transport-Security`. We don't send it with a certificate
    /// from the local CA, since browsers would then refuse plain HTTP to anything else on this host
    /// for a year.
    pub(crate) fn has_hsts(&self) -> bool {
        match self.mode {
            TlsMode::Native => self.own_certificate,
            TlsMode::Proxy => true,
            TlsMode::Off => false,
        }
    }

    fn trusts(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.trusted.iter().any(|network| network.contains(&peer))
    }

    fn is_https(
        &self,
        transport: Transport,
        peer: Option<SocketAddr>,
        headers: &HeaderMap,
    ) -> bool {
        match self.mode {
            TlsMode::Native => transport.secure,
            TlsMode::Proxy if transport.tls_at_proxy => true,
            TlsMode::Proxy => {
                (transport.trusted_peer || peer.is_some_and(|peer| self.trusts(peer.ip())))
                    && headers
                        .get(FORWARDED_PROTO)
                        .is_some_and(|scheme| scheme.as_bytes().eq_ignore_ascii_case(b"https"))
            }
            TlsMode::Off => false,
        }
    }

    /// Returns the URL to which a plain HTTP request should be redirected (301), or `None` to serve
    /// it. An inner `None` means that the request lacks a usable host.
    pub(crate) fn redirect(&self, request: &ServiceRequest) -> Option<Option<String>> {
        if !names_valid_host(request) {
            return Some(None);
        }
        if self.mode == TlsMode::Off {
            return None;
        }
        let transport = connection::transport(request.request());
        if self.is_https(transport, request.peer_addr(), request.headers()) {
            return None;
        }
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let target = if target.starts_with('/') { target } else { "/" };
        if let Some(base) = &self.public_url {
            return Some(Some(format!("{base}{target}")));
        }
        let port = match self.https_port {
            Some(443) | None => String::new(),
            Some(port) => format!(":{port}"),
        };
        let host = host_of(request.headers(), request.uri().authority());
        Some(host.map(|host| {
            let name = host.name;
            format!("https://{name}{port}{target}")
        }))
    }

    /// Prepends the path from `PUBLIC_URL` if `Location` is a path within the service.
    pub(crate) fn complete_location(&self, headers: &mut HeaderMap) {
        if self.base_path.is_empty() {
            return;
        }
        let location = headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
        let within = |path: &&str| path.starts_with('/') && !path.starts_with("//");
        if let Some(path) = location.filter(within)
            && let Ok(target) = HeaderValue::try_from(format!("{}{path}", self.base_path))
        {
            headers.insert(header::LOCATION, target);
        }
    }

    /// Returns the client address, to which quotas are charged. This is the peer, or the last hop
    /// before the trusted proxies.
    ///
    /// We go through the list from the end, because a hop is only credible if a trusted proxy
    /// reported it. If a hop can't be parsed, the proxy that added it counts as the client.
    fn client_ip(
        &self,
        trusted_peer: bool,
        peer: Option<SocketAddr>,
        headers: &HeaderMap,
    ) -> IpAddr {
        let mut client = match peer {
            Some(peer) => peer.ip().to_canonical(),
            None if trusted_peer => IpAddr::V4(Ipv4Addr::LOCALHOST),
            None => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        };
        if !trusted_peer && !self.trusts(client) {
            return client;
        }
        let lists: Vec<_> = headers.get_all(FORWARDED_FOR).map(HeaderValue::as_bytes).collect();
        let hops = lists.iter().rev().flat_map(|list| list.rsplit(|byte| *byte == b','));
        let mut hops = hops.map(<[u8]>::trim_ascii).filter(|hop| !hop.is_empty());
        let mut ours = true;
        while ours {
            let Some(hop) = hops.next().and_then(hop_address) else { break };
            client = hop;
            ours = self.trusts(client);
        }
        client
    }
}

/// Parses a hop, to which some proxies add a port or brackets. Returns `None` if it isn't an
/// address.
fn hop_address(hop: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(hop).ok()?;
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    bare.parse().ok().or_else(with_port).map(|address: IpAddr| address.to_canonical())
}

/// Returns the client address: either the peer's address or the one reported by trusted proxies.
pub fn client_ip(request: &HttpRequest) -> IpAddr {
    match request.app_data::<Edge>() {
        Some(edge) => {
            let trusted_peer = connection::transport(request).trusted_peer;
            edge.client_ip(trusted_peer, request.peer_addr(), request.headers())
        }
        None => request.peer_addr().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.ip()),
    }
}

/// Returns whether the client used HTTPS, either to this process or to a trusted proxy.
pub fn is_https(request: &HttpRequest) -> bool {
    let transport = connection::transport(request);
    request.app_data::<Edge>().map_or(transport.secure, |edge| {
        edge.is_https(transport, request.peer_addr(), request.headers())
    })
}

/// Returns the URL that the client uses to reach the service, without a trailing slash. This is
/// `PUBLIC_URL` if set. Otherwise, it is made up of the request's scheme and host.
pub fn base_url(request: &HttpRequest) -> String {
    if let Some(url) = request.app_data::<Edge>().and_then(|edge| edge.public_url.as_deref()) {
        return url.to_owned();
    }
    let scheme = if is_https(request) { "https" } else { "http" };
    let authority = request.uri().authority();
    let host = host_of(request.headers(), authority).unwrap_or(Host::LOCAL);
    format!("{scheme}://{}", host.text)
}

/// Returns the path from `PUBLIC_URL`, below which a proxy serves the service. It is either empty
/// or something like `/breaches`, without a trailing slash.
///
/// Links, forms and cookies on pages must include this path. If a `Location` header is just a path,
/// the shell adds this prefix.
///
/// ```
/// use actix_web::test::TestRequest;
///
/// assert_eq!(shell::base_path(&TestRequest::default().to_http_request()), "");
/// ```
pub fn base_path(request: &HttpRequest) -> &str {
    request.app_data::<Edge>().map_or("", |edge| &*edge.base_path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use actix_web::http::Version;
    use actix_web::test::TestRequest;

    use super::*;

    fn edge(mode: TlsMode, proxies: &[&str]) -> Edge {
        let mut settings = ShellSettings::for_tests(Path::new("."));
        settings.tls_mode = mode;
        settings.trusted_proxies = proxies.iter().map(|net| net.parse().unwrap()).collect();
        Edge::new(&settings, Some(8484))
    }

    fn request(peer: &str, headers: &[(&str, &str)]) -> ServiceRequest {
        let request = TestRequest::with_uri("/a?b=c").peer_addr(peer.parse().unwrap());
        headers
            .iter()
            .fold(request, |request, (name, value)| request.append_header((*name, *value)))
            .to_srv_request()
    }

    #[test]
    fn the_redirect_keeps_path_and_query_and_changes_the_port() {
        let request = request("192.0.2.9:1", &[("host", "pw.example:80")]);
        let target = edge(TlsMode::Native, &[]).redirect(&request);
        assert_eq!(target, Some(Some("https://pw.example:8484/a?b=c".to_owned())));
        assert_eq!(edge(TlsMode::Off, &[]).redirect(&request), None);
    }

    #[test]
    fn the_host_in_the_target_takes_precedence_over_the_header() {
        let request = TestRequest::with_uri("http://a.example:80/x")
            .append_header(("host", "b.example"))
            .peer_addr("192.0.2.9:1".parse().unwrap())
            .to_srv_request();
        let target = edge(TlsMode::Native, &[]).redirect(&request);
        assert_eq!(target, Some(Some("https://a.example:8484/x".to_owned())));
        assert_eq!(base_url(request.request()), "http://a.example:80");
    }

    #[test]
    fn paths_in_location_get_the_path_of_the_public_url() {
        let mut settings = ShellSettings::for_tests(Path::new("."));
        for (url, location, completed) in [
            (Some("https://a.example/b/c"), "/docs/", "/b/c/docs/"),
            (Some("https://a.example/b"), "https://else.example/x", "https://else.example/x"),
            (Some("https://a.example/b"), "//else.example/x", "//else.example/x"),
            (Some("https://a.example"), "/docs/", "/docs/"),
            (None, "/docs/", "/docs/"),
        ] {
            settings.public_url = url.map(str::to_owned);
            let mut headers = HeaderMap::new();
            headers.insert(header::LOCATION, HeaderValue::from_static(location));
            Edge::new(&settings, None).complete_location(&mut headers);
            assert_eq!(headers.get(header::LOCATION).unwrap(), completed, "{url:?}");
        }
    }

    #[test]
    fn hosts_that_are_unsafe_in_links_are_refused() {
        let edge = edge(TlsMode::Native, &[]);
        let redirect_of =
            |host: &str| edge.redirect(&request("192.0.2.9:1", &[("host", host)])).unwrap();
        for (host, named) in [
            ("a_b.example", "a_b.example"),
            ("[::1]:80", "[::1]"),
            ("10.0.0.1:1", "10.0.0.1"),
            ("[2001:DB8::7]", "[2001:DB8::7]"),
        ] {
            assert_eq!(redirect_of(host), Some(format!("https://{named}:8484/a?b=c")), "{host}");
        }
        let long = "a".repeat(256);
        for host in [
            "",
            "user@evil.example",
            "a b",
            "a\"b",
            "a/b",
            "a?b",
            "a%20b",
            "a,b",
            "[::1",
            "[::1]x",
            "[::1]:",
            "[a]",
            "[]",
            "a[",
            "a:",
            "a:+1",
            ":80",
            "a:b",
            "a:99999",
            "a:1:2",
            "\u{fc}.example",
            &long,
        ] {
            assert_eq!(redirect_of(host), None, "{host}");
        }
    }

    #[test]
    fn requests_with_a_malformed_host_are_not_served() {
        let edge = edge(TlsMode::Off, &[]);
        let is_served =
            |host: &str| edge.redirect(&request("192.0.2.9:1", &[("host", host)])).is_none();
        let unusual =
            ["", "a:", "a_b.example:80", "[::1]:8080", "[fe80::1%25eth0]", "a%20b", "a,b"];
        for host in unusual {
            assert!(is_served(host), "{host}");
        }
        for host in
            ["a b", "a@b", "a/b", "a?b", "a#b", "a\\b", "a:b", "a:1:2", "[::1", "[::1]x", "ä"]
        {
            assert!(!is_served(host), "{host}");
        }
        let over_http2 = |uri: &str, host: Option<&str>| {
            let request = TestRequest::with_uri(uri).version(Version::HTTP_2);
            let request = host
                .into_iter()
                .fold(request, |request, host| request.append_header(("host", host)));
            edge.redirect(&request.to_srv_request()).is_none()
        };
        assert!(over_http2("https://a.example/x", None));
        assert!(over_http2("/x", Some("a.example")));
        assert!(!over_http2("/x", None));
        assert!(!over_http2("/x", Some("")));
        assert!(!over_http2("https://a@b.example/x", None));
        assert!(!over_http2("https://a.example/x", Some("a b")));
    }

    #[test]
    fn only_trusted_proxies_can_report_https() {
        let edge = edge(TlsMode::Proxy, &["10.0.0.0/8"]);
        let https = ("x-forwarded-proto", "https");
        assert_eq!(edge.redirect(&request("10.1.1.1:1", &[https])), None);
        for (peer, headers) in [
            ("10.1.1.1:1", vec![]),
            ("10.1.1.1:1", vec![("x-forwarded-proto", "http")]),
            ("192.0.2.1:1", vec![https]),
        ] {
            assert!(edge.redirect(&request(peer, &headers)).is_some(), "{peer} {headers:?}");
        }
    }

    #[test]
    fn the_client_is_the_last_untrusted_hop() {
        let edge = edge(TlsMode::Proxy, &["10.0.0.0/8"]);
        let forged = ("x-forwarded-for", "203.0.113.7, 198.51.100.2, 10.2.2.2");
        let client_of = |peer: &str, headers: &[(&str, &str)]| {
            let request = request(peer, headers);
            edge.client_ip(false, request.peer_addr(), request.headers()).to_string()
        };
        assert_eq!(client_of("10.1.1.1:1", &[forged]), "198.51.100.2");
        assert_eq!(client_of("192.0.2.1:1", &[forged]), "192.0.2.1");
        assert_eq!(client_of("10.1.1.1:1", &[]), "10.1.1.1");
        assert_eq!(client_of("[::ffff:192.0.2.1]:1", &[]), "192.0.2.1");
    }

    #[test]
    fn hops_may_have_ports_and_earlier_ones_may_be_malformed() {
        let edge = edge(TlsMode::Proxy, &["10.0.0.0/8", "2001:db8:1::/48"]);
        let client_of = |lists: &[&str]| {
            let lines: Vec<_> = lists.iter().map(|list| ("x-forwarded-for", *list)).collect();
            let request = request("10.1.1.1:1", &lines);
            edge.client_ip(false, request.peer_addr(), request.headers()).to_string()
        };
        for (lists, client) in [
            (&["garbage, 203.0.113.9"][..], "203.0.113.9"),
            (&["203.0.113.9:4711"], "203.0.113.9"),
            (&["203.0.113.9:4711, 10.2.2.2:80"], "203.0.113.9"),
            (&["[2001:db8::7]:4711"], "2001:db8::7"),
            (&["[2001:db8::7], 2001:db8:1::1"], "2001:db8::7"),
            (&["2001:db8::7"], "2001:db8::7"),
            (&["::ffff:203.0.113.9"], "203.0.113.9"),
            (&["203.0.113.7", "203.0.113.9,10.2.2.2", " , 10.3.3.3 ,"], "203.0.113.9"),
            // Anything before a hop that we can't parse comes from an untrusted source.
            (&["203.0.113.9, unknown"], "10.1.1.1"),
            (&["203.0.113.9, unknown, 10.2.2.2"], "10.2.2.2"),
            (&["203.0.113.9, 10.2.2.2:99999"], "10.1.1.1"),
            (&["10.3.3.3, 10.2.2.2"], "10.3.3.3"),
            (&[""], "10.1.1.1"),
        ] {
            assert_eq!(client_of(lists), client, "{lists:?}");
        }
    }
}
