//! Finds the fields of a JSON value that contain addresses.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::{fmt, io};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::address_titles::Title;
use super::secret_names;
use super::skip_reason::{self, SkipReason};

/// The field to read: either a path such as `user.email`, or any field with a well-known name.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'p> {
    Named,
    /// The remaining path. Arrays along the way are searched item by item.
    Path(&'p str),
}

/// The meaning of a field name.
#[derive(Clone, Copy)]
enum Kind {
    Secret,
    Other(Option<Title>),
}

/// The field names in a file.
#[derive(Default)]
pub(super) struct Fields {
    /// Fields that were read.
    pub(super) names: RefCell<BTreeSet<String>>,
    /// Names that have been classified, since the same ones recur in every record.
    kinds: RefCell<HashMap<String, Kind>>,
    /// Fields of the same object that could all contain its address.
    rivals: RefCell<Option<String>>,
}

impl Fields {
    /// Maximum number of names to remember, and their maximum length in bytes.
    const MAX: usize = 1_000;
    const LONGEST: usize = 1_024;

    fn kind(&self, name: &str) -> Kind {
        if let Some(kind) = self.kinds.borrow().get(name) {
            return *kind;
        }
        let kind = match secret_names::is_secret(name) {
            true => Kind::Secret,
            false => Kind::Other(Title::of(name)),
        };
        let mut kinds = self.kinds.borrow_mut();
        if kinds.len() < Self::MAX && name.len() <= Self::LONGEST {
            kinds.insert(name.to_owned(), kind);
        }
        kind
    }

    fn note(&self, name: &str) {
        let mut names = self.names.borrow_mut();
        if names.len() < Self::MAX && !names.contains(name) {
            names.insert(name.to_owned());
        }
    }

    /// Fails if it's unclear which field of an object contains its address.
    pub(super) fn expect_clear(&self) -> io::Result<()> {
        match &*self.rivals.borrow() {
            None => Ok(()),
            Some(names) => Err(io::Error::other(format!(
                "several fields of an object may contain the addresses: {names}. --column names \
                 the field to read"
            ))),
        }
    }
}

/// Values of an object's fields such as `user_email`. They count only if the object doesn't have a
/// field that is simply called `email`.
#[derive(Default)]
struct Particular {
    names: BTreeSet<String>,
    values: Vec<Result<String, SkipReason>>,
    /// Memory used, in bytes.
    size: usize,
}

impl Particular {
    /// Maximum memory for values in bytes. Real objects need far less.
    const MAX: usize = 1 << 20;
    /// Maximum number of names to remember, for the error message.
    const LISTED: usize = 20;

    fn push(&mut self, text: Result<&str, SkipReason>) -> Result<(), ()> {
        self.size += size_of::<Result<String, SkipReason>>() + text.map_or(0, str::len);
        if self.size > Self::MAX {
            return Err(());
        }
        self.values.push(text.map(str::to_owned));
        Ok(())
    }
}

/// Number of bytes that can still be read before the next value starts.
pub(super) struct Room {
    pub(super) left: Cell<u64>,
    text: u64,
    skipped: u64,
}

impl Room {
    pub(super) fn new(text: u64, skipped: u64) -> Self {
        Self { left: Cell::new(text), text, skipped }
    }

    fn begin_value(&self) {
        self.left.set(self.text);
    }

    fn begin_skipped(&self) {
        self.left.set(self.skipped);
    }
}

/// Receives an address, or why a value isn't one. An error stops the walk.
pub(super) type Keep<'k> = dyn FnMut(Result<&str, SkipReason>) -> Result<(), ()> + 'k;

/// Visits the wanted fields and passes on their values, or why a value isn't an address.
pub(super) struct Walk<'p, 'k> {
    pub(super) wanted: Wanted<'p>,
    /// Whether the current value is a wanted field.
    pub(super) is_value: bool,
    pub(super) room: &'k Room,
    pub(super) fields: &'k Fields,
    pub(super) keep: &'k mut Keep<'k>,
}

impl Walk<'_, '_> {
    fn scalar<E: Error>(self, text: Result<&str, SkipReason>) -> Result<(), E> {
        if self.is_value { (self.keep)(text).map_err(|()| E::custom("stopped")) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.room.begin_value();
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.scalar(skip_reason::present(text))
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar(Err(SkipReason::Empty))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.scalar(Err(SkipReason::Address))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.scalar(Err(SkipReason::Address))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.scalar(Err(SkipReason::Address))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.scalar(Err(SkipReason::Address))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { wanted, is_value, room, fields, keep } = self;
        loop {
            let walk = Walk { wanted, is_value, room, fields, keep: &mut *keep };
            if items.next_element_seed(walk)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { wanted, room, fields, keep, .. } = self;
        let (mut has_email, mut particular) = (false, Particular::default());
        while let Some(name) = members.next_key::<String>()? {
            room.begin_skipped();
            let (wanted, is_value) = match wanted {
                Wanted::Named => match fields.kind(&name) {
                    // A value that looks like an address may still be a secret.
                    Kind::Secret => {
                        members.next_value::<IgnoredAny>()?;
                        room.begin_value();
                        continue;
                    }
                    Kind::Other(Some(Title::ParticularEmail)) => {
                        let mut hold = |text: Result<&str, SkipReason>| particular.push(text);
                        let keep = &mut hold;
                        members.next_value_seed(Walk {
                            wanted,
                            is_value: true,
                            room,
                            fields,
                            keep,
                        })?;
                        if particular.names.len() < Particular::LISTED {
                            particular.names.insert(name);
                        }
                        continue;
                    }
                    Kind::Other(Some(Title::Email)) => {
                        has_email = true;
                        fields.note(&name);
                        (Wanted::Named, true)
                    }
                    Kind::Other(_) => (Wanted::Named, false),
                },
                Wanted::Path(path) => {
                    // Field names can contain dots.
                    let rest = path.strip_prefix(name.as_str());
                    match rest.map(|rest| (rest, rest.strip_prefix('.'))) {
                        Some(("", _)) => {
                            fields.note(&name);
                            (Wanted::Path(""), true)
                        }
                        Some((_, Some(rest))) => (Wanted::Path(rest), false),
                        _ => {
                            members.next_value::<IgnoredAny>()?;
                            room.begin_value();
                            continue;
                        }
                    }
                }
            };
            members.next_value_seed(Walk { wanted, is_value, room, fields, keep: &mut *keep })?;
        }
        if has_email {
            return Ok(());
        }
        if particular.names.len() > 1 {
            let names = Vec::from_iter(particular.names).join(", ");
            *fields.rivals.borrow_mut() = Some(names);
            return Err(A::Error::custom("ambiguous"));
        }
        for name in &particular.names {
            fields.note(name);
        }
        for text in &particular.values {
            keep(text.as_deref().map_err(|reason| *reason))
                .map_err(|()| A::Error::custom("stopped"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_of_fields_are_not_remembered() {
        let fields = Fields::default();
        fields.kind(&"x".repeat(Fields::LONGEST));
        fields.kind(&"y".repeat(Fields::LONGEST + 1));
        assert_eq!(fields.kinds.borrow().len(), 1);
    }
}
