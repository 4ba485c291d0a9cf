//! Request and response bodies of domain verification.

use serde_json::Value;

use super::body::{Body, member};

/// A domain's verification token.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DnsToken {
    /// Value of the TXT record to publish at the domain.
    #[schema(example = "breach-verify=dweb_k3v9x2m4q7w1z8r5t6y0u3i2")]
    pub txt_record_value: String,
}

/// The domain to verify.
#[derive(Clone, Debug, Default, PartialEq, Eq, utoipa::ToSchema)]
#[schema(rename_all = "PascalCase")]
pub struct DomainRequest {
    /// Name of the domain. Case is ignored.
    #[schema(
        pattern = r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$",
        example = "example.com"
    )]
    pub domain_name: String,
}

/// The domain to verify, and the address that receives the email.
#[derive(Clone, Debug, Default, PartialEq, Eq, utoipa::ToSchema)]
#[schema(rename_all = "PascalCase")]
pub struct MailRequest {
    /// Name of the domain. Case is ignored.
    #[schema(
        pattern = r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$",
        example = "example.com"
    )]
    pub domain_name: String,
    /// Local part of the address that receives the email: `admin`, `hostmaster`, `info`, `security`
    /// or `webmaster`. Case is ignored.
    #[schema(pattern = "^(admin|hostmaster|info|security|webmaster)$", example = "security")]
    pub email_alias: String,
}

/// Reads a string member of a JSON object, given its name in any case. Returns an empty string if
/// it's missing or isn't a string.
fn text(object: &Value, name: &str) -> String {
    member(object, name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

impl Body for DomainRequest {
    type Content = Self;

    /// Fails only if the body isn't JSON. Missing fields become empty strings.
    fn parse(body: &[u8]) -> Option<Self> {
        let object: Value = serde_json::from_slice(body).ok()?;
        Some(Self { domain_name: text(&object, "DomainName") })
    }
}

impl Body for MailRequest {
    type Content = Self;

    /// Fails only if the body isn't JSON. Missing fields become empty strings.
    fn parse(body: &[u8]) -> Option<Self> {
        let object: Value = serde_json::from_slice(body).ok()?;
        let (domain_name, email_alias) = (text(&object, "DomainName"), text(&object, "EmailAlias"));
        Some(Self { domain_name, email_alias })
    }
}
