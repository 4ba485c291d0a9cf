//! Parameters of the index, and of reading and deleting an item.

use serde_json::Value;

use super::declared::{list_parameters, parameters, read_parameters};
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;
use crate::wire::values::{Flag, Text, boolean};

parameters! {
    /// Parameters of the index.
    IndexParameters {
        /// The requested namespace.
        #[param(value_type = String, default = "calendar/events/v1")]
        pub namespace: Option<Text>,
        /// Accepted without effect.
        #[param(value_type = String, default = "view")]
        pub context: Option<Text>,
    }
}

read_parameters! {
    /// Parameters of reading an event.
    EventReadParameters {
        /// Password of a protected event.
        #[param(value_type = String)]
        pub password: Option<Text>,
        /// edit shows a protected event to those who may edit it.
        #[param(value_type = String, default = "view")]
        pub context: Option<Text>,
    }
}

read_parameters! {
    /// Parameters of deleting an event.
    EventDeleteParameters {
        /// Password of a protected event.
        #[param(value_type = String)]
        pub password: Option<Text>,
        /// true erases it for good, also from the trash, with its image if nothing else has that.
        /// Extension.
        #[param(value_type = bool, default = false)]
        pub force: Option<Value>,
    }
}

read_parameters! {
    /// Parameters of deleting a venue or an organizer.
    LinkedDeleteParameters {
        /// true erases it for good, also from the trash, with its image if nothing else has that.
        /// Extension.
        #[param(value_type = bool, default = false)]
        pub force: Option<Value>,
    }
}

/// Returns whether a request to delete says that the resource is erased.
///
/// # Errors
/// `force` is not a boolean.
pub fn is_forced(params: &Params) -> Result<bool, ParameterErrors> {
    match params.get("force") {
        Some(force) => {
            boolean(force).ok_or_else(|| ParameterErrors::one("force", "must be true or false"))
        }
        None => Ok(false),
    }
}

read_parameters! {
    /// Parameters of removing a subscription.
    SubscriptionDeleteParameters {
        /// true also moves its events to the trash. Otherwise they stay.
        #[param(value_type = bool, default = false)]
        pub events: Option<Value>,
    }
}

list_parameters! {
    /// Parameters of the events of a subscription.
    SubscribedEventParameters {
        /// Only events that a user changed.
        #[param(value_type = bool, default = false)]
        pub changed: Option<Flag>,
    }
}

read_parameters! {
    /// Parameters of reading and deleting anything else.
    ItemParameters {
    }
}
