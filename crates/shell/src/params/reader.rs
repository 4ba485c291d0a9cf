//! Reads a struct of parameters and collects all violations.

use std::cell::Cell;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use validator::{Validate, ValidationErrors};

use super::error::Failure;
use super::input::{Given, Input};
use super::rules::{Empty, Faults, Rules, Undecodable, Unknown};
use super::validation;
use super::value::{Members, OneValue};
use crate::Violation;

/// The outcome of reading parameters, which can be a value, violations, or both.
///
/// If only some fields have violations, there is still a value in which these fields are empty.
/// This lets a service continue with checks that depend on more than the request.
#[derive(Clone, Debug)]
pub struct Reading<T> {
    /// The parameters. `None` if the input lacks a field that is neither an `Option` nor has a
    /// default.
    pub value: Option<T>,
    /// The violations, in the order in which fields are declared.
    pub violations: Vec<Violation>,
}

impl<T> Reading<T> {
    /// Returns the parameters if there are no violations.
    ///
    /// # Errors
    /// Returns the violations.
    pub fn into_result(self) -> Result<T, Vec<Violation>> {
        match self.value {
            Some(value) if self.violations.is_empty() => Ok(value),
            _ => Err(self.violations),
        }
    }
}

/// Deserializes the parameters of an operation.
///
/// All violations can only be found if every field is an `Option` or has a `serde(default)`.
pub fn read<'de, T>(input: &'de Input<'_>, rules: &'de Rules) -> Reading<T>
where
    T: Deserialize<'de>,
{
    read_and_check(input, rules, |_| None)
}

/// Like [`read`], but also validates the parameters.
///
/// Mark required fields with `#[validate(required)]`. A violation from [`Validate`] is reported
/// under the serialized name of its field, provided both names are the same apart from case, `-`
/// and `_`.
///
/// ```
/// use serde::Deserialize;
/// use shell::params::{Input, Rules, read_validated};
/// use validator::Validate;
///
/// #[derive(Debug, Deserialize, Validate)]
/// struct Parameters {
///     #[serde(rename = "pageSize")]
///     #[validate(range(min = 1, max = 100))]
///     page_size: Option<u32>,
///     #[validate(required)]
///     name: Option<String>,
///     #[serde(default)]
///     exact: bool,
/// }
///
/// let input = Input::query("exact=TRUE&pageSize=200");
/// let violations = read_validated::<Parameters>(&input, &Rules::PLAIN).into_result().unwrap_err();
/// let found: Vec<_> = violations.iter().map(|v| (v.field.as_str(), &*v.code)).collect();
/// assert_eq!(found, [("pageSize", "range"), ("name", "required")]);
/// assert_eq!(violations[0].limit("max").unwrap(), 100);
/// assert_eq!(violations[0].sent.as_deref(), Some("200"));
///
/// let input = Input::query("name=a&exact=true");
/// let parameters = read_validated::<Parameters>(&input, &Rules::PLAIN).into_result().unwrap();
/// assert_eq!((parameters.name.as_deref(), parameters.exact), (Some("a"), true));
/// ```
pub fn read_validated<'de, T>(input: &'de Input<'_>, rules: &'de Rules) -> Reading<T>
where
    T: Deserialize<'de> + Validate,
{
    read_and_check(input, rules, |value: &T| value.validate().err())
}

fn read_and_check<'de, T>(
    input: &'de Input<'_>,
    rules: &'de Rules,
    check: impl FnOnce(&T) -> Option<ValidationErrors>,
) -> Reading<T>
where
    T: Deserialize<'de>,
{
    if rules.undecodable == Undecodable::Input
        && let Some(violation) = input.undecodable()
    {
        return Reading { value: None, violations: vec![violation] };
    }
    let declared = Cell::new(&[] as &[&str]);
    let fields = Fields { input, rules, declared: &declared, skipped: 0 };
    let (value, mut found) = match T::deserialize(fields) {
        Ok(value) => (Some(value), Vec::new()),
        Err(failure) => without_faulty(fields, failure),
    };
    if let Some(errors) = value.as_ref().and_then(check) {
        validation::collect(&errors, declared.get(), &mut found);
    }
    let mut violations = unknown(fields);
    if !found.is_empty() {
        violations.extend(in_order(found, fields));
    }
    if rules.faults == Faults::First {
        violations.truncate(1);
    }
    Reading { value, violations }
}

/// Returns violations for names that aren't fields, provided the rules reject these.
fn unknown(fields: Fields<'_, '_>) -> Vec<Violation> {
    let Unknown::Refused(most) = fields.rules.unknown else { return Vec::new() };
    let declared = fields.declared.get();
    let known = |name: &str| declared.iter().any(|field| fields.rules.names.equal(field, name));
    let names = fields.input.names().filter(|name| !known(name)).take(most);
    names.map(|name| Violation::new(name, "unknown", "the name is unknown")).collect()
}

/// Repeats the deserialization, each time without the fields that have failed so far.
fn without_faulty<'de, T: Deserialize<'de>>(
    mut fields: Fields<'_, 'de>,
    first: Failure,
) -> (Option<T>, Vec<Violation>) {
    let mut found = Vec::new();
    let mut failure = first;
    loop {
        let outer = failure.field.split(['.', '[']).next().unwrap_or_default();
        let at = fields.declared.get().iter().position(|name| *name == outer);
        let bit = at.map_or(0, bit);
        let known = fields.skipped & bit != 0;
        if !known {
            found.push(Violation {
                limits: failure.limits.into(),
                ..Violation::new(failure.field, failure.code, failure.message)
            });
        }
        if known || bit == 0 {
            return (None, found);
        }
        fields.skipped |= bit;
        match T::deserialize(fields) {
            Ok(value) => return (Some(value), found),
            Err(next) => failure = next,
        }
    }
}

/// Adds the values that were sent, and sorts the violations in the order in which fields are
/// declared.
fn in_order(mut found: Vec<Violation>, fields: Fields<'_, '_>) -> Vec<Violation> {
    let outer = |violation: &Violation| {
        let name = violation.field.split(['.', '[']).next().unwrap_or_default();
        fields.declared.get().iter().position(|field| *field == name)
    };
    for violation in &mut found {
        let Some(name) = outer(violation).map(|at| fields.declared.get()[at]) else { continue };
        violation.sent = match fields.input.find(name, fields.rules) {
            Some(Given::Text(text)) => Some(text.as_ref().into()),
            Some(Given::Undecodable(text)) => Some((*text).into()),
            Some(Given::Json(value)) => Some(value.to_string().into()),
            None => None,
        };
        violation.name = fields.input.name_sent(name, fields.rules).map(Into::into);
    }
    found.sort_by_key(|violation| outer(violation).unwrap_or(usize::MAX));
    found
}

/// A deserializer that presents the input as the fields of a struct.
#[derive(Clone, Copy)]
pub(super) struct Fields<'c, 'de> {
    pub(super) input: &'de Input<'de>,
    pub(super) rules: &'de Rules,
    pub(super) declared: &'c Cell<&'static [&'static str]>,
    /// Bit mask of declared fields to skip.
    pub(super) skipped: u128,
}

impl<'de> Fields<'_, 'de> {
    /// Returns the declared fields that are present in the input.
    fn present(
        self,
        declared: &'static [&'static str],
    ) -> impl Iterator<Item = (&'de str, Result<OneValue<'de>, Failure>)> {
        let Fields { input, rules, skipped, .. } = self;
        let read = declared.iter().enumerate().filter(move |(at, _)| skipped & bit(*at) == 0);
        read.filter_map(move |(_, &name)| {
            let given = input.find(name, rules).filter(|given| is_given(given, rules))?;
            let value = match given {
                Given::Text(text) => Ok(OneValue::text(text, rules, Some((input, name)))),
                Given::Json(value) => Ok(OneValue::json(value, rules)),
                Given::Undecodable(_) => {
                    Err(Failure::new("encoding", "the value is not UTF-8 text"))
                }
            };
            Some((name, value))
        })
    }
}

/// Returns the bit of a declared field in a mask, or 0 if there are too many fields for the mask.
fn bit(at: usize) -> u128 {
    u32::try_from(at).ok().and_then(|at| 1u128.checked_shl(at)).unwrap_or(0)
}

impl<'de> Deserializer<'de> for Fields<'_, 'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        // Only structs declare their fields.
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        declared: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.declared.set(declared);
        visitor.visit_map(Members::new(self.present(declared)))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn is_given(given: &Given<'_>, rules: &Rules) -> bool {
    match given {
        Given::Text(text) => !text.is_empty() || rules.empty == Empty::Kept,
        Given::Json(value) => !value.is_null(),
        Given::Undecodable(_) => true,
    }
}
