//! Decodes an operation's parameters and reports all errors at once.
//!
//! Each value is decoded as part of the operation's struct. Rules that involve other parameters,
//! the database or the site's zone are checked afterwards and add to the same list of errors.

use serde::de::DeserializeOwned;
use shell::params::{Input, Rules, read};
use utoipa::openapi::Required;
use utoipa::openapi::path::Parameter;

use super::parameter_errors::{InvalidParameter, ParameterErrors};
use super::parameters::Declared;
use super::params::Params;
use super::values::INVALID_TYPE;

/// The errors found in an operation's parameters so far.
pub struct Errors {
    declared: &'static [Parameter],
    found: ParameterErrors,
}

/// Decodes an operation's parameters. Invalid ones are reported and left unset.
pub fn read_parameters<T>(params: &Params) -> (T, Errors)
where
    T: DeserializeOwned + Declared + Default,
{
    let input = Input::object(params.members());
    let reading = read::<T>(&input, &Rules::PLAIN);
    let mut errors = Errors { declared: T::parameters(), found: ParameterErrors::default() };
    for violation in reading.violations {
        let detail = (violation.code == INVALID_TYPE).then_some(INVALID_TYPE);
        if let Some(name) = errors.declared_name(&violation.field) {
            errors.found.invalid.push(InvalidParameter { name, text: violation.message, detail });
        }
    }
    (reading.value.unwrap_or_default(), errors)
}

impl Errors {
    fn declared_name(&self, name: &str) -> Option<&'static str> {
        self.declared.iter().map(|one| one.name.as_str()).find(|declared| *declared == name)
    }

    /// Reports missing required parameters.
    pub fn require(&mut self, params: &Params) {
        let required = self.declared.iter().filter(|one| one.required == Required::True);
        let names = required.map(|one| one.name.as_str());
        self.found.missing.extend(names.filter(|name| params.get(name).is_none()));
    }

    /// Reports an invalid parameter. Only the first error for each parameter is kept.
    pub fn fail(&mut self, name: &'static str, text: impl Into<String>) {
        if !self.found.invalid.iter().any(|invalid| invalid.name == name) {
            self.found.invalid.push(InvalidParameter { name, text: text.into(), detail: None });
        }
    }

    /// Returns `value` if there were no errors.
    ///
    /// # Errors
    /// Returns all errors, in declaration order.
    pub fn finish<T>(mut self, value: T) -> Result<T, ParameterErrors> {
        if self.found == ParameterErrors::default() {
            return Ok(value);
        }
        let place = |invalid: &InvalidParameter| {
            self.declared.iter().position(|one| one.name == invalid.name)
        };
        self.found.invalid.sort_by_key(place);
        Err(self.found)
    }
}
