//! Full and truncated breaches.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::{self, instant, markup};

/// A breach of the catalogue.
///
/// Attributes may be added without a new version of the API.
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
    /// Stable key: unique ignoring case, never changes.
    #[schema(example = "Acmegram")]
    pub name: String,
    /// Unique title; may change.
    #[schema(example = "Acmegram")]
    pub title: String,
    /// Domain of the breached site; may be empty.
    #[schema(example = "acmegram.example")]
    pub domain: String,
    /// Approximate date of the breach.
    #[schema(format = Date, example = "2013-12-01")]
    pub breach_date: String,
    /// When the breach was added, to the minute.
    #[schema(format = DateTime, example = "2014-01-01T12:00:00Z")]
    pub added_date: String,
    /// When the breach was last changed, to the minute; never earlier than `AddedDate`.
    #[schema(format = DateTime, example = "2014-01-01T12:00:00Z")]
    pub modified_date: String,
    /// Number of addresses loaded.
    #[schema(example = 10)]
    pub pwn_count: i64,
    /// Description, HTML: text with links, emphasis and lists.
    pub description: String,
    /// Location of a PNG logo.
    #[schema(example = "https://logos.example/Acmegram.png")]
    pub logo_path: String,
    /// Attribution requested by the provider of the data.
    #[schema(required = true)]
    pub attribution: Option<String>,
    /// URL of the disclosure by the breached party.
    pub disclosure_url: Option<String>,
    /// Affected classes of data, alphabetical.
    #[schema(example = json!(["Email addresses", "Passwords"]))]
    pub data_classes: Vec<String>,
    /// Its authenticity was confirmed.
    pub is_verified: bool,
    /// It is considered made up.
    pub is_fabricated: bool,
    /// Sensitive: searches by address return no account for it.
    pub is_sensitive: bool,
    /// Retired: its data were removed and are never returned.
    pub is_retired: bool,
    /// Its data come from a spam list, not from a compromise.
    pub is_spam_list: bool,
    /// Its data come from malware.
    pub is_malware: bool,
    /// Domain searches show it even when the subscription is too small.
    pub is_subscription_free: bool,
    /// Its data come from stealer logs; websites are stored by address.
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

/// A breach of an account: `Name` alone when truncated, every attribute of a breach otherwise.
///
/// Only the document uses it: one generated type reads both answers.
#[derive(ToSchema)]
#[schema(rename_all = "PascalCase")]
#[allow(dead_code, reason = "responses are assembled from rendered breaches, as described here")]
pub struct AccountBreach {
    /// Stable key: unique ignoring case, never changes.
    #[schema(example = "Acmegram")]
    name: String,
    /// Unique title; may change.
    #[schema(nullable = false)]
    title: Option<String>,
    /// Domain of the breached site; may be empty.
    #[schema(nullable = false)]
    domain: Option<String>,
    /// Approximate date of the breach.
    #[schema(format = Date, nullable = false)]
    breach_date: Option<String>,
    /// When the breach was added, to the minute.
    #[schema(format = DateTime, nullable = false)]
    added_date: Option<String>,
    /// When the breach was last changed, to the minute.
    #[schema(format = DateTime, nullable = false)]
    modified_date: Option<String>,
    /// Number of addresses loaded.
    #[schema(nullable = false)]
    pwn_count: Option<i64>,
    /// Description, HTML.
    #[schema(nullable = false)]
    description: Option<String>,
    /// Location of a PNG logo.
    #[schema(nullable = false)]
    logo_path: Option<String>,
    /// Attribution requested by the provider of the data.
    attribution: Option<String>,
    /// URL of the disclosure by the breached party.
    disclosure_url: Option<String>,
    /// Affected classes of data, alphabetical.
    #[schema(nullable = false)]
    data_classes: Option<Vec<String>>,
    /// Its authenticity was confirmed.
    #[schema(nullable = false)]
    is_verified: Option<bool>,
    /// It is considered made up.
    #[schema(nullable = false)]
    is_fabricated: Option<bool>,
    /// Sensitive: only shown to those who verified the domain of the address.
    #[schema(nullable = false)]
    is_sensitive: Option<bool>,
    /// Retired: never shown with an address.
    #[schema(nullable = false)]
    is_retired: Option<bool>,
    /// Its data come from a spam list, not from a compromise.
    #[schema(nullable = false)]
    is_spam_list: Option<bool>,
    /// Its data come from malware.
    #[schema(nullable = false)]
    is_malware: Option<bool>,
    /// Domain searches show it even when the subscription is too small.
    #[schema(nullable = false)]
    is_subscription_free: Option<bool>,
    /// Its data come from stealer logs.
    #[schema(nullable = false)]
    is_stealer_log: Option<bool>,
}
