//! Deserializes a single value to the type of its field.

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde_json::Value;

use super::error::Failure;
use super::input::{Given, Input};
use super::rules::{Lists, Numbers, Rules, Words};

#[derive(Clone, Copy)]
pub(super) struct OneValue<'de> {
    kind: Kind<'de>,
    rules: &'de Rules,
    /// The whole input and the name, used to find further values under the same name.
    all: Option<(&'de Input<'de>, &'static str)>,
}

#[derive(Clone, Copy)]
enum Kind<'de> {
    Text(&'de str),
    Json(&'de Value),
}

impl<'de> OneValue<'de> {
    pub(super) fn text(
        text: &'de str,
        rules: &'de Rules,
        all: Option<(&'de Input<'de>, &'static str)>,
    ) -> Self {
        Self { kind: Kind::Text(text), rules, all }
    }

    pub(super) fn json(value: &'de Value, rules: &'de Rules) -> Self {
        match value {
            Value::String(text) => Self::text(text, rules, None),
            other => Self { kind: Kind::Json(other), rules, all: None },
        }
    }

    /// Parses a whole number according to the service's rules.
    fn whole<N: std::str::FromStr>(self, text: &str) -> Result<N, Failure> {
        let digits = match self.rules.numbers {
            Numbers::Parsed => text.trim(),
            Numbers::Digits(most)
                if (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()) =>
            {
                text
            }
            Numbers::Digits(_) => "",
        };
        digits.parse().map_err(|_| Failure::new("integer", "the value is not a whole number"))
    }

    fn items(self) -> Vec<OneValue<'de>> {
        let rules = self.rules;
        match self.kind {
            Kind::Json(Value::Array(items)) => {
                items.iter().map(|item| Self::json(item, rules)).collect()
            }
            Kind::Json(_) => vec![self],
            Kind::Text(text) if rules.lists == Lists::Commas => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                parts.map(|part| Self::text(part, rules, None)).collect()
            }
            Kind::Text(_) => {
                let Some((input, name)) = self.all else { return vec![self] };
                let named = input.named(name, rules.names);
                let texts = named.filter_map(|(_, given)| match given {
                    Given::Text(text) => Some(Self::text(text, rules, None)),
                    _ => None,
                });
                texts.collect()
            }
        }
    }
}

macro_rules! whole_numbers {
    ($($method:ident $visit:ident $number:ty;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            match self.kind {
                Kind::Text(text) => visitor.$visit(self.whole::<$number>(text)?),
                Kind::Json(_) => self.deserialize_any(visitor),
            }
        })*
    };
}

macro_rules! fractions {
    ($($method:ident $visit:ident;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            match self.kind {
                Kind::Text(text) => match text.trim().parse() {
                    Ok(number) => visitor.$visit(number),
                    Err(_) => Err(Failure::new("number", "the value is not a number")),
                },
                Kind::Json(_) => self.deserialize_any(visitor),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for OneValue<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.kind {
            Kind::Text(text) => visitor.visit_borrowed_str(text),
            Kind::Json(Value::String(text)) => visitor.visit_borrowed_str(text),
            Kind::Json(Value::Null) => visitor.visit_unit(),
            Kind::Json(Value::Bool(flag)) => visitor.visit_bool(*flag),
            Kind::Json(Value::Number(number)) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or_default()),
            },
            Kind::Json(Value::Array(_)) => self.deserialize_seq(visitor),
            Kind::Json(Value::Object(members)) => {
                let named = members
                    .iter()
                    .map(|(name, value)| (name.as_str(), Ok(Self::json(value, self.rules))));
                visitor.visit_map(Members::new(named))
            }
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let Kind::Text(text) = self.kind else { return self.deserialize_any(visitor) };
        let mut words = self.rules.booleans.iter();
        match words.find(|(word, _)| word.eq_ignore_ascii_case(text)) {
            Some((_, meaning)) => visitor.visit_bool(*meaning),
            None => Err(Failure::new("boolean", "the value is not a boolean")),
        }
    }

    whole_numbers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_i128 visit_i128 i128;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_u128 visit_u128 u128;
    }

    fractions! {
        deserialize_f32 visit_f32;
        deserialize_f64 visit_f64;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.kind {
            Kind::Json(Value::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_seq(Items { items: self.items().into_iter(), at: 0 })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let Kind::Json(Value::Object(members)) = self.kind else {
            return self.deserialize_any(visitor);
        };
        let rules = self.rules;
        let given = members.iter().filter(|(_, value)| !value.is_null());
        let known = given.filter_map(|(key, value)| {
            let field = fields.iter().find(|field| rules.names.equal(field, key))?;
            Some((*field, Ok(Self::json(value, rules))))
        });
        visitor.visit_map(Members::new(known))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let Kind::Text(text) = self.kind else {
            return Err(de::Error::invalid_type(Unexpected::Other("the value"), &"a word"));
        };
        let same = |variant: &&&str| match self.rules.words {
            Words::Exact => **variant == text,
            Words::IgnoringCase => variant.eq_ignore_ascii_case(text),
            Words::Trimmed => variant.eq_ignore_ascii_case(text.trim()),
        };
        match variants.iter().find(same) {
            Some(variant) => visitor.visit_enum(Word(variant)),
            None => Err(de::Error::unknown_variant(text, variants)),
        }
    }

    serde::forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct tuple tuple_struct map identifier
        ignored_any
    }
}

pub(super) struct Members<'de, I> {
    members: I,
    value: Option<Member<'de>>,
}

/// The name and value of a member, or the error if the value can't be read.
type Member<'de> = (&'de str, Result<OneValue<'de>, Failure>);

impl<'de, I: Iterator<Item = Member<'de>>> Members<'de, I> {
    pub(super) fn new(members: I) -> Self {
        Self { members, value: None }
    }
}

impl<'de, I: Iterator<Item = Member<'de>>> MapAccess<'de> for Members<'de, I> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failure> {
        self.value = self.members.next();
        let Some((name, _)) = self.value else { return Ok(None) };
        let key: BorrowedStrDeserializer<'_, Failure> = BorrowedStrDeserializer::new(name);
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        let Some((name, value)) = self.value.take() else {
            return Err(Failure::new("invalid", "a value was requested before its name"));
        };
        value.and_then(|value| seed.deserialize(value)).map_err(|failure| failure.within(name))
    }
}

struct Items<'de> {
    items: std::vec::IntoIter<OneValue<'de>>,
    at: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Failure> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let at = self.at;
        self.at += 1;
        seed.deserialize(item).map(Some).map_err(|failure| failure.within(&format!("[{at}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Word(&'static str);

impl<'de> EnumAccess<'de> for Word {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Failure> {
        let name: StrDeserializer<'_, Failure> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Failure> {
        Err(de::Error::invalid_type(Unexpected::UnitVariant, &"a word without a value"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Failure> {
        Err(de::Error::invalid_type(Unexpected::UnitVariant, &"a word without a value"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Failure> {
        Err(de::Error::invalid_type(Unexpected::UnitVariant, &"a word without a value"))
    }
}
