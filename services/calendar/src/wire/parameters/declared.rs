//! Parameters as an operation declares them.

use utoipa::openapi::path::Parameter;

/// The parameters of an operation, declared by the struct that reads them.
pub trait Declared {
    /// Returns the parameters in the order of their declaration.
    fn parameters() -> &'static [Parameter];
}

/// Implements [`Declared`] from the documentation of a struct, which is built once.
macro_rules! declared {
    ($name:ident) => {
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
pub(super) use declared;
