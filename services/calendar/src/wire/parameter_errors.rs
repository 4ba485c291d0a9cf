//! Missing and invalid parameters.

/// A parameter that failed validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameter {
    pub name: &'static str,
    pub text: String,
    /// The error code, if the parameter is also listed in `details`.
    pub detail: Option<&'static str>,
}

/// A request's missing and invalid parameters. If any parameters are missing, only those are
/// reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterErrors {
    pub missing: Vec<&'static str>,
    pub invalid: Vec<InvalidParameter>,
}

impl ParameterErrors {
    /// Creates the error for a single invalid parameter.
    pub fn one(name: &'static str, text: &str) -> ParameterErrors {
        let invalid = InvalidParameter { name, text: text.to_owned(), detail: None };
        ParameterErrors { missing: Vec::new(), invalid: vec![invalid] }
    }
}
