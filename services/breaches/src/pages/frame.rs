//! The frame of the account pages.

/// The subscriber, the CSRF token and the current page.
pub struct Frame {
    /// The CSRF token.
    pub csrf: String,
    /// Address of the subscriber.
    pub email: String,
    /// The key of the current page.
    pub current: &'static str,
}

/// Paths of the pages, with their keys and names.
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
    /// Returns the pages.
    pub fn tabs(&self) -> [(&'static str, &'static str, &'static str); 7] {
        TABS
    }
}
