//! Full and truncated breaches.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::{self, instant, markup};

/// A data breach in the catalogue.
///
/// New attributes can be added without a new API version.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
#[schema(example = json!({
    "Name": "Acmegram", "Title": "Acmegram", "Domain": "acmegram.example",
    "BreachDate": "2019-05-04", "AddedDate": "2019-06-01T10:00:00Z",
    "ModifiedDate": "2019-06-01T10:00:00Z", "PwnCount": 1200,
    "Description": "An invented breach.", "LogoPath": "https://breaches.example/logo/Acmegram.png",
    "Attribution": null, "DisclosureUrl": null, "DataClasses": ["Email addresses", "Passwords"],
    "IsVerified": true, "IsFabricated": false, "IsSensitive": false, "IsRetired": false,
    "IsSpamList": false, "IsMalware": false, "IsSubscriptionFree": false, "IsStealerLog": false,
}))]
pub struct Breach {
    /// Stable identifier of the breach. It never changes and is unique, ignoring case.
    #[schema(example = "Acmegram")]
    pub name: String,
    /// Title of the breach. It is unique but can change.
    #[schema(example = "Acmegram")]
    pub title: String,
    /// Domain of the breached website. Can be empty.
    #[schema(example = "acmegram.example")]
    pub domain: String,
    /// Approximate date of the breach.
    #[schema(format = Date, example = "2013-12-01")]
    pub breach_date: String,
    /// When the breach was added to the catalogue, with minute precision.
    #[schema(format = DateTime, example = "2014-01-01T12:00:00Z")]
    pub added_date: String,
    /// When the breach was last modified, with minute precision. Never earlier than `AddedDate`.
    #[schema(format = DateTime, example = "2014-01-01T12:00:00Z")]
    pub modified_date: String,
    /// Number of addresses in the breach.
    #[schema(example = 10)]
    pub pwn_count: i64,
    /// Description in HTML, which may contain links, emphasis and lists.
    pub description: String,
    /// URL of the logo, a PNG image.
    #[schema(example = "https://logos.example/Acmegram.png")]
    pub logo_path: String,
    /// Attribution requested by the provider of the data. `null` if none is required.
    #[schema(required = true)]
    pub attribution: Option<String>,
    /// URL of the breached organisation's disclosure. `null` if unknown.
    pub disclosure_url: Option<String>,
    /// Exposed data classes, in alphabetical order.
    #[schema(example = json!(["Email addresses", "Passwords"]))]
    pub data_classes: Vec<String>,
    /// Whether the breach has been verified as authentic.
    pub is_verified: bool,
    /// Whether the data is considered fabricated.
    pub is_fabricated: bool,
    /// Whether the breach is sensitive. Searches by address do not return sensitive breaches.
    pub is_sensitive: bool,
    /// Whether the breach is retired. A retired breach's data has been removed and is never
    /// returned.
    pub is_retired: bool,
    /// Whether the data comes from a spam list rather than from a compromised service.
    pub is_spam_list: bool,
    /// Whether the data was collected by malware.
    pub is_malware: bool,
    /// Whether domain searches return the breach even if the subscription does not cover the
    /// domain's size.
    pub is_subscription_free: bool,
    /// Whether the data comes from stealer logs, which list the websites where each address was
    /// captured.
    pub is_stealer_log: bool,
}

impl From<&model::Breach> for Breach {
    fn from(breach: &model::Breach) -> Self {
        Self {
            name: breach.name.clone(),
            title: breach.title.clone(),
            domain: breach.domain.clone(),
            breach_date: breach.breach_date.clone(),
            added_date: instant::with_zone(breach.added),
            modified_date: instant::with_zone(breach.modified),
            pwn_count: breach.pwn_count,
            description: markup::allowed(&breach.description),
            logo_path: breach.logo_path.clone(),
            attribution: breach.attribution.clone(),
            disclosure_url: breach.disclosure_url.clone(),
            data_classes: breach.data_classes.clone(),
            is_verified: breach.flags.verified,
            is_fabricated: breach.flags.fabricated,
            is_sensitive: breach.flags.sensitive,
            is_retired: breach.flags.retired,
            is_spam_list: breach.flags.spam_list,
            is_malware: breach.flags.malware,
            is_subscription_free: breach.flags.subscription_free,
            is_stealer_log: breach.flags.stealer_log,
        }
    }
}

/// A breach that contains the address. A truncated response contains only `Name`; a full response
/// contains all attributes.
// Only the OpenAPI document uses this type: one generated type reads both responses.
#[derive(ToSchema)]
#[schema(rename_all = "PascalCase")]
#[allow(dead_code, reason = "responses are assembled from rendered breaches, as described here")]
pub struct AccountBreach {
    /// Stable identifier of the breach. It never changes and is unique, ignoring case.
    #[schema(example = "Acmegram")]
    name: String,
    /// Title of the breach. It is unique but can change.
    #[schema(nullable = false)]
    title: Option<String>,
    /// Domain of the breached website. Can be empty.
    #[schema(nullable = false)]
    domain: Option<String>,
    /// Approximate date of the breach.
    #[schema(format = Date, nullable = false)]
    breach_date: Option<String>,
    /// When the breach was added to the catalogue, with minute precision.
    #[schema(format = DateTime, nullable = false)]
    added_date: Option<String>,
    /// When the breach was last modified, with minute precision.
    #[schema(format = DateTime, nullable = false)]
    modified_date: Option<String>,
    /// Number of addresses in the breach.
    #[schema(nullable = false)]
    pwn_count: Option<i64>,
    /// Description in HTML.
    #[schema(nullable = false)]
    description: Option<String>,
    /// URL of the logo, a PNG image.
    #[schema(nullable = false)]
    logo_path: Option<String>,
    /// Attribution requested by the provider of the data. `null` if none is required.
    attribution: Option<String>,
    /// URL of the breached organisation's disclosure. `null` if unknown.
    disclosure_url: Option<String>,
    /// Exposed data classes, in alphabetical order.
    #[schema(nullable = false)]
    data_classes: Option<Vec<String>>,
    /// Whether the breach has been verified as authentic.
    #[schema(nullable = false)]
    is_verified: Option<bool>,
    /// Whether the data is considered fabricated.
    #[schema(nullable = false)]
    is_fabricated: Option<bool>,
    /// Whether the breach is sensitive. Only callers who have verified the address's domain can see
    /// sensitive breaches.
    #[schema(nullable = false)]
    is_sensitive: Option<bool>,
    /// Whether the breach is retired. Retired breaches are never returned for an address.
    #[schema(nullable = false)]
    is_retired: Option<bool>,
    /// Whether the data comes from a spam list rather than from a compromised service.
    #[schema(nullable = false)]
    is_spam_list: Option<bool>,
    /// Whether the data was collected by malware.
    #[schema(nullable = false)]
    is_malware: Option<bool>,
    /// Whether domain searches return the breach even if the subscription does not cover the
    /// domain's size.
    #[schema(nullable = false)]
    is_subscription_free: Option<bool>,
    /// Whether the data comes from stealer logs.
    #[schema(nullable = false)]
    is_stealer_log: Option<bool>,
}
