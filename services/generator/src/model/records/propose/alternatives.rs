//! Proposes fields for the `anyOf` and `oneOf` branches (alternatives) in a JSON Schema, and for
//! arrays of distinct items.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::column::{Column, Stored};
use super::combined::merged;
use super::json_schema::Reader;
use super::measures::is_countable;
use super::narrowed::may_be_null;

/// Maximum number of alternatives.
const MOST: usize = 100;
/// Name of the hidden field that decides which alternative a row uses.
const NUMBER: &str = "alternative";

impl Reader<'_> {
    /// Merges a schema with one of its alternatives. If the schema has a discriminator, also fixes
    /// its value.
    fn variant(&self, whole: &Map<String, Value>, alternative: &Value) -> Value {
        let mut parts = vec![alternative.clone()];
        let discriminator = whole.get("discriminator");
        if let Some(tag) = discriminator.and_then(|tag| tag["propertyName"].as_str())
            && let Some(target) = alternative["$ref"].as_str()
        {
            let own = self.resolved(alternative);
            let known = self.resolved(&own["properties"][tag]);
            let name = target.rsplit('/').next().unwrap_or_default();
            let mapped = discriminator.and_then(|tag| tag["mapping"].as_object());
            let mut mapped = mapped.into_iter().flatten();
            let is_target = |value: &Value| value == target || value == name;
            let value =
                mapped.find(|(_, value)| is_target(value)).map_or(name, |(key, _)| key.as_str());
            if known["const"].is_null() && known["enum"].is_null() {
                parts.push(json!({"properties": {(tag): {"const": value}}}));
            }
        }
        merged(whole, parts)
    }

    /// Returns one merged schema per alternative. Reports alternatives after the first `MOST`.
    pub fn variants(
        &self,
        name: &str,
        whole: &Map<String, Value>,
        alternatives: &[Value],
    ) -> Vec<Value> {
        if alternatives.len() > MOST {
            self.note(format!("the alternatives of {name} after the first {MOST}"));
        }
        alternatives.iter().take(MOST).map(|alternative| self.variant(whole, alternative)).collect()
    }

    /// Returns the column for a property with alternatives. Each row then uses one of them.
    pub fn either(
        &self,
        name: &str,
        whole: &Map<String, Value>,
        variants: &[Value],
        depth: usize,
    ) -> Column {
        let columns = variants.iter().map(|variant| {
            self.nested.set(self.nested.get() + 1);
            let column = self.column(name, variant, depth + 1);
            Column { required: true, ..column }
        });
        let columns: Vec<_> = columns.collect();
        let fields: Vec<_> = columns.iter().map(|column| unnamed(column.inner_field())).collect();
        let required = !may_be_null(&Value::Object(whole.clone()));
        let is_same = fields.windows(2).all(|pair| pair[0] == pair[1]);
        if let Some(column) = columns.into_iter().next().filter(|_| is_same) {
            return Column { required, ..column };
        }
        let is_constant = |field: &Value| field["type"] == "constant";
        if fields.iter().all(is_constant) {
            let values = fields.into_iter().map(|mut field| field["value"].take());
            let choices = values.collect();
            let column = Column::new(name.to_owned(), Stored::Text(None));
            return Column { required, choices, ..column };
        }
        let field = json!({"type": "oneOf", "fields": fields});
        Column { required, ..Column::new(name.to_owned(), Stored::Known(field)) }
    }

    /// Returns the schemas that table rows can have: one per alternative, or just one if the schema
    /// has no alternatives. Schemas without properties are left out.
    pub fn kinds_of_rows(&self, schema: &Value) -> Vec<Value> {
        let (whole, alternatives, is_one_of) = self.split(schema);
        self.name_ignored("the whole", &whole);
        let mut kinds: Vec<_> = match alternatives.is_empty() {
            true => vec![self.resolved(schema)],
            false => {
                let mut variants = self.variants("the whole", &whole, &alternatives);
                if is_one_of {
                    self.set_apart("the whole", &mut variants);
                }
                variants.iter().map(|variant| self.resolved(variant)).collect()
            }
        };
        kinds.retain(|kind| !self.properties(kind).is_empty());
        kinds.iter().for_each(|kind| self.name_size("the whole", kind));
        kinds
    }

    /// Returns the fields of a table whose rows have these schemas. If there is more than one
    /// schema, a hidden field picks the schema for each row.
    pub fn fields_of_rows(&self, kinds: &[Value]) -> Vec<Value> {
        let several: Vec<_> = match kinds {
            [] => return Vec::new(),
            [kind] => return self.fields(kind, 0),
            kinds => kinds.iter().map(|kind| self.fields(kind, 1)).collect(),
        };
        if several.windows(2).all(|pair| pair[0] == pair[1]) {
            return self.fields(&kinds[0], 0);
        }
        let named = several.iter().map(|fields| {
            let named = fields.iter().filter_map(|field| Some((field["name"].as_str()?, field)));
            named.collect::<HashMap<_, _>>()
        });
        let named: Vec<_> = named.collect();
        let (mut names, mut known) = (Vec::new(), HashSet::new());
        for name in several.iter().flatten().filter_map(|field| field["name"].as_str()) {
            if known.insert(name) {
                names.push(name);
            }
        }
        let mut number = NUMBER.to_owned();
        while known.contains(number.as_str()) {
            number.push('_');
        }
        let last = several.len() - 1;
        let mut fields =
            vec![json!({"name": number, "type": "integer", "min": 0, "max": last, "hidden": true})];
        let mut is_whole = true;
        for name in names {
            let own = |fields: &HashMap<&str, &Value>| {
                fields.get(name).map(|field| unnamed((*field).clone()))
            };
            let own: Vec<_> = named.iter().map(own).collect();
            is_whole &= own.iter().all(Option::is_some);
            let none = || json!({"type": "constant", "value": null});
            let mut own: Vec<_> = own.into_iter().map(|field| field.unwrap_or_else(none)).collect();
            let is_same = own.windows(2).all(|pair| pair[0] == pair[1]);
            let mut field = match is_same {
                true => own.swap_remove(0),
                false => json!({"type": "oneOf", "by": number, "fields": own}),
            };
            field["name"] = name.into();
            fields.push(field);
        }
        if !is_whole {
            self.note("the properties that only other alternatives have: they are null".to_owned());
        }
        fields
    }

    /// Returns an array field whose items are distinct, if that can be guaranteed.
    pub fn distinct(&self, name: &str, items: &Column, least: u64, most: u64) -> Value {
        let items = Column { required: true, unique: true, ..items.clone() };
        let count = items.count(|_| None);
        let most = count.map_or(most, |count| most.min(count).max(least).max(1));
        let mut item = items.inner_field();
        if is_countable(&item) && count.is_none_or(|count| count >= most) {
            if let Some(item) = item.as_object_mut() {
                item.remove("unique");
            }
            return json!({
                "type": "array", "min": least, "max": most, "distinct": true, "items": item});
        }
        self.note(format!("the distinct items of {name}"));
        let item = Column { unique: false, ..items }.inner_field();
        json!({"type": "array", "min": least, "max": most, "items": item})
    }
}

/// Removes the name of a field.
fn unnamed(mut field: Value) -> Value {
    if let Some(field) = field.as_object_mut() {
        field.remove("name");
    }
    field
}
