//! Layout shared by the account pages.

/// Data for the layout.
pub struct Frame {
    /// CSRF token.
    pub csrf: String,
    /// The subscriber's address.
    pub email: String,
    /// Key of the current tab.
    pub current: &'static str,
}

/// Tabs as (path, key, label).
const TABS: [(&str, &str, &str); 7] = [
    ("/account", "overview", "Overview"),
    ("/account/stealer-logs", "stealer-logs", "Stealer logs"),
    ("/account/domains", "domains", "Domains"),
    ("/account/notifications", "notifications", "Notifications"),
    ("/account/webhooks", "webhooks", "Webhooks"),
    ("/account/key", "key", "API key"),
    ("/account/subscription", "subscription", "Subscription"),
];

impl Frame {
    pub fn tabs(&self) -> [(&'static str, &'static str, &'static str); 7] {
        TABS
    }
}
