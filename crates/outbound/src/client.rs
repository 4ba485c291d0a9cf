//! HTTP clients that only connect to addresses permitted by a [`Reach`].

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::{ClientConfig, RootCertStore};

use crate::reach::{GuardedResolver, Reach};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Builds a client that doesn't use proxies, reuse connections, keep cookies or send referrers.
///
/// # Errors
/// Returns an error if the TLS configuration is invalid.
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
        // Each request needs a new connection, so that the address is checked every time.
        .pool_max_idle_per_host(0)
        .build()
}

/// Returns a builder with built-in root certificates, since our container images don't include any.
fn builder() -> ClientBuilder {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let versions =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    match versions {
        Ok(versions) => {
            let tls = versions.with_root_certificates(roots).with_no_client_auth();
            Client::builder().tls_backend_preconfigured(tls)
        }
        // This can't happen, because the provider supports the default TLS versions.
        Err(_) => Client::builder(),
    }
}
