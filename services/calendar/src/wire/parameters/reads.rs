//! Parameters of the index, and of reading and deleting an item.

use super::declared::{parameters, read_parameters};
use crate::wire::values::Text;

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
    }
}

read_parameters! {
    /// Parameters of reading and deleting anything else.
    ItemParameters {
    }
}
