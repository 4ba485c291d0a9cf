//! Parameters that are missing or invalid.

/// A parameter that fails its validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameter {
    pub name: &'static str,
    pub text: String,
    /// Code of the detail that goes with it, where there is one.
    pub detail: Option<&'static str>,
}

/// Every parameter that is missing or fails its validation; missing ones are reported first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterErrors {
    pub missing: Vec<&'static str>,
    pub invalid: Vec<InvalidParameter>,
}

impl ParameterErrors {
    /// A single parameter that fails its validation.
    pub fn one(name: &'static str, text: &str) -> ParameterErrors {
        let invalid = InvalidParameter { name, text: text.to_owned(), detail: None };
        ParameterErrors { missing: Vec::new(), invalid: vec![invalid] }
    }
}
