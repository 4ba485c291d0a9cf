//! Parameters that are missing or invalid.

/// A parameter that fails its validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameter {
    pub name: &'static str,
    pub text: String,
    /// The code of its entry in `details`, if it has one.
    pub detail: Option<&'static str>,
}

/// All missing or invalid parameters. Missing ones are reported first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterErrors {
    pub missing: Vec<&'static str>,
    pub invalid: Vec<InvalidParameter>,
}

impl ParameterErrors {
    /// Returns the error of a single invalid parameter.
    pub fn one(name: &'static str, text: &str) -> ParameterErrors {
        let invalid = InvalidParameter { name, text: text.to_owned(), detail: None };
        ParameterErrors { missing: Vec::new(), invalid: vec![invalid] }
    }
}
