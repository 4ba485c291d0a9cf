//! Macros and traits for declaring an operation's parameters.

use utoipa::openapi::path::Parameter;

/// An operation's parameters. The struct that declares them also decodes them.
pub trait Declared {
    /// Returns the parameters in declaration order.
    fn parameters() -> &'static [Parameter];
}

/// Defines a struct that both documents and decodes an operation's parameters.
///
/// The documentation is built only once.
macro_rules! parameters {
    ($(#[$doc:meta])* $name:ident { $($field:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default, serde::Deserialize, utoipa::IntoParams)]
        #[serde(default)]
        #[into_params(parameter_in = Query)]
        pub struct $name { $($field)* }

        impl $crate::wire::parameters::Declared for $name {
            fn parameters() -> &'static [utoipa::openapi::path::Parameter] {
                static PARAMETERS: std::sync::LazyLock<Vec<utoipa::openapi::path::Parameter>> =
                    std::sync::LazyLock::new(|| {
                        <$name as utoipa::IntoParams>::into_params(|| None)
                    });
                &PARAMETERS
            }
        }
    };
}
pub(super) use parameters;

/// Defines the parameters of an operation that supports `_fields`.
macro_rules! read_parameters {
    ($(#[$doc:meta])* $name:ident { $($field:tt)* }) => {
        $crate::wire::parameters::declared::parameters! {
            $(#[$doc])*
            $name {
                $($field)*
                /// Comma-separated fields to return. Dots select nested fields, as in
                /// `events.id,total`. All other fields are omitted, even those that the schema
                /// requires.
                #[serde(rename = "_fields")]
                #[param(value_type = String)]
                pub fields: Option<$crate::wire::values::Text>,
            }
        }
    };
}
pub(super) use read_parameters;

/// Defines the parameters of a paginated list.
macro_rules! list_parameters {
    ($(#[$doc:meta])* $name:ident { $($field:tt)* }) => {
        $crate::wire::parameters::declared::read_parameters! {
            $(#[$doc])*
            $name {
                /// Page number, starting at 1.
                #[param(value_type = i64, minimum = 1, default = 1)]
                pub page: Option<$crate::wire::values::Positive>,
                /// Number of rows per page. Capped at the site's maximum.
                #[param(value_type = i64, minimum = 1, default = 10)]
                pub per_page: Option<$crate::wire::values::Positive>,
                $($field)*
            }
        }
    };
}
pub(super) use list_parameters;
