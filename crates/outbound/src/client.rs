//! HTTP clients that connect to what a [`Reach`] permits.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::{ClientConfig, RootCertStore};

use crate::reach::{GuardedResolver, Reach};

/// A connection that takes longer counts as failed.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A client without proxies, kept connections, cookies and referrers.
///
/// # Errors
/// When the parts of TLS do not fit.
pub(crate) fn build(reach: &Reach, user_agent: &str, redirect: Policy) -> reqwest::Result<Client> {
    builder()
        .user_agent(user_agent)
        .dns_resolver(Arc::new(GuardedResolver(reach.clone())))
        .redirect(redirect)
        .connect_timeout(CONNECT_TIMEOUT)
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .referer(false)
        // A connection serves one request: the next one is looked up and judged anew.
        .pool_max_idle_per_host(0)
        .build()
}

/// A client with the certificate authorities that browsers trust, built in: images of services
/// have none of the system's.
fn builder() -> ClientBuilder {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let versions =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    match versions {
        Ok(versions) => {
            let tls = versions.with_root_certificates(roots).with_no_client_auth();
            Client::builder().tls_backend_preconfigured(tls)
        }
        // The provider knows both versions of TLS; if it did not, the client says so when built.
        Err(_) => Client::builder(),
    }
}
