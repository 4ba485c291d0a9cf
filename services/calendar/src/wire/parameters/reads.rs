//! Parameters for the index, and for reading and deleting single items.

use serde_json::Value;

use super::declared::{list_parameters, parameters, read_parameters};
use super::schemas::ScopeWords;
use crate::model::series::Reach;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;
use crate::wire::values::{Flag, Text, boolean};

parameters! {
    /// Index parameters.
    IndexParameters {
        /// Requested namespace. An unknown namespace results in a 404 error.
        #[param(value_type = String, default = "calendar/events/v1")]
        pub namespace: Option<Text>,
        /// Accepted for compatibility and ignored.
        #[param(value_type = String, default = "view")]
        pub context: Option<Text>,
    }
}

read_parameters! {
    /// Parameters for reading an event.
    EventReadParameters {
        /// Password of a protected event.
        #[param(value_type = String)]
        pub password: Option<Text>,
        /// `edit` returns a protected event without its password, if the caller may edit the event.
        #[param(value_type = String, default = "view")]
        pub context: Option<Text>,
    }
}

read_parameters! {
    /// Parameters for deleting an event.
    EventDeleteParameters {
        /// Password of a protected event.
        #[param(value_type = String)]
        pub password: Option<Text>,
        /// `true` permanently erases the item, even from the trash, together with its image if
        /// nothing else uses the image. By default, the item is moved to the trash. Extension.
        #[param(value_type = bool, default = false)]
        pub force: Option<Value>,
        /// For an event in a series, the events to delete: `this`, `following` (this event and all
        /// later ones) or `all`. Extension.
        #[param(inline, value_type = ScopeWords)]
        pub scope: Option<Value>,
    }
}

read_parameters! {
    /// Parameters for deleting a venue or organizer.
    LinkedDeleteParameters {
        /// `true` permanently erases the item, even from the trash, together with its image if
        /// nothing else uses the image. By default, the item is moved to the trash. Extension.
        #[param(value_type = bool, default = false)]
        pub force: Option<Value>,
    }
}

/// Returns whether a delete request should erase the resource permanently.
///
/// # Errors
/// Returns an error if `force` is not a boolean.
pub fn is_forced(params: &Params) -> Result<bool, ParameterErrors> {
    match params.get("force") {
        Some(force) => {
            boolean(force).ok_or_else(|| ParameterErrors::one("force", "must be true or false"))
        }
        None => Ok(false),
    }
}

/// Returns which of a series' events a delete request applies to.
///
/// # Errors
/// Returns an error if `scope` is unknown.
pub fn reach_of(params: &Params) -> Result<Reach, ParameterErrors> {
    let wrong = || ParameterErrors::one("scope", "must be this, following or all");
    match params.get("scope") {
        Some(scope) => scope.as_str().and_then(Reach::named).ok_or_else(wrong),
        None => Ok(Reach::default()),
    }
}

read_parameters! {
    /// Parameters for removing a subscription.
    SubscriptionDeleteParameters {
        /// Whether to move the subscription's events to the trash. By default, they are kept.
        #[param(value_type = bool, default = false)]
        pub events: Option<Value>,
    }
}

list_parameters! {
    /// Parameters for listing a subscription's events.
    SubscribedEventParameters {
        /// Only events that a user changed.
        #[param(value_type = bool, default = false)]
        pub changed: Option<Flag>,
    }
}

read_parameters! {
    /// Parameters for reading and deleting anything else.
    ItemParameters {
    }
}
