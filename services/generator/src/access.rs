//! Who may call, and how often.

use actix_web::HttpRequest;
use auth::{AuthError, Charge, Credential, Key, Plan, Policy, Quota, header_key};
use shell::Switch;

/// Limits of callers without a key.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Callers")]
pub struct CallerSettings {
    /// Whether requests without a key are answered
    #[arg(long, env, global = true, value_enum, default_value_t = Switch::On)]
    pub anonymous: Switch,
    /// Requests per minute of an address without a key; also limits refused keys
    #[arg(long, env, global = true, value_name = "N", default_value_t = 60)]
    pub anonymous_rpm: u32,
    /// Requests that an address without a key may make at once
    #[arg(long, env, global = true, value_name = "N", default_value_t = 30)]
    pub anonymous_burst: u32,
}

impl Default for CallerSettings {
    fn default() -> Self {
        Self { anonymous: Switch::On, anonymous_rpm: 60, anonymous_burst: 30 }
    }
}

/// Code of the plan that a key gets unless another is named.
pub const STANDARD: &str = "standard";

/// The plans of a new database.
pub fn plans() -> [Plan; 1] {
    [Plan::new(STANDARD, "Standard", 600, 300)]
}

/// Keys stand in `X-Api-Key`.
pub struct HeaderKeys(pub CallerSettings);

impl HeaderKeys {
    fn address(&self) -> Charge {
        Quota { per_minute: self.0.anonymous_rpm, burst: self.0.anonymous_burst }.into()
    }
}

impl Policy for HeaderKeys {
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        header_key(request, "x-api-key")
    }

    fn anonymous(&self, _: &HttpRequest) -> Option<Charge> {
        self.0.anonymous.is_on().then(|| self.address())
    }

    fn refused(&self, _: &HttpRequest) -> Charge {
        self.address()
    }

    fn keyed(&self, _: &HttpRequest, key: &Key) -> Charge {
        key.quota().unwrap_or_else(|| plans()[0].quota()).into()
    }
}
