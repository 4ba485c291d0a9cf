//! Proposes schemas for objects that JSON Schema (draft 2020-12) or OpenAPI describes.

use serde_json::{Map, Value, json};

use super::column::{Column, Stored};
use super::names::by_name;

/// Maximum nesting depth of objects, arrays and references.
const DEEPEST: usize = 4;

/// Proposes a schema for the objects that a JSON Schema describes. `component` is the name of a
/// schema in an OpenAPI document or in `$defs`.
///
/// # Errors
/// Returns a description of the missing part.
pub fn of_json_schema(document: &Value, component: Option<&str>) -> Result<Value, String> {
    let (name, schema) = match component {
        None => ("records", Some(document)),
        Some(name) => {
            let places =
                [&document["components"]["schemas"], &document["$defs"], &document["definitions"]];
            (name, places.into_iter().find_map(|place| place.get(name)))
        }
    };
    let schema = schema.ok_or_else(|| format!("the document has no component {name}"))?;
    let reader = Reader { document };
    let schema = reader.resolved(schema);
    if !schema["properties"].is_object() {
        let known = document["components"]["schemas"].as_object();
        let known = known.map(|all| all.keys().cloned().collect::<Vec<_>>().join(", "));
        return Err(match known {
            Some(names) => format!("choose a component with properties: {names}"),
            None => "the schema has no properties".to_owned(),
        });
    }
    let name = schema["title"].as_str().filter(|_| component.is_none()).unwrap_or(name);
    Ok(json!({"name": name, "fields": reader.fields(&schema, 0)}))
}

struct Reader<'a> {
    document: &'a Value,
}

impl Reader<'_> {
    /// Resolves local references and merges `allOf`.
    fn resolved(&self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        for _ in 0..DEEPEST {
            let Some(target) = schema["$ref"].as_str() else { break };
            let pointer = target.trim_start_matches('#');
            match self.document.pointer(pointer) {
                Some(found) => schema = found.clone(),
                None => break,
            }
        }
        let Some(parts) = schema["allOf"].as_array().cloned() else { return schema };
        let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let mut required = schema["required"].as_array().cloned().unwrap_or_default();
        for part in parts.iter().take(20) {
            let part = match part["$ref"].as_str().map(|target| target.trim_start_matches('#')) {
                Some(pointer) => self.document.pointer(pointer).cloned().unwrap_or_default(),
                None => part.clone(),
            };
            properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
            required.extend(part["required"].as_array().cloned().unwrap_or_default());
        }
        json!({"type": "object", "title": schema["title"], "properties": properties, "required": required})
    }

    fn fields(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let none = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&none);
        let required = schema["required"].as_array();
        let mut fields = Vec::new();
        for (name, property) in properties {
            let mut column = self.column(name, property, depth);
            column.required = required.is_some_and(|names| names.iter().any(|one| one == name));
            match depth {
                0 => fields.extend(column.fields("")),
                // Fields inside of an object cannot use each other.
                _ => fields.push(column.field("").0),
            }
        }
        fields
    }

    fn column(&self, name: &str, property: &Value, depth: usize) -> Column {
        let property = self.resolved(property);
        let mut column = Column::new(name.to_owned(), self.stored(name, &property, depth));
        let bound = |name: &str| property[name].as_f64();
        column.least = bound("minimum").or(bound("exclusiveMinimum").map(|least| least + 1.0));
        column.most = bound("maximum").or(bound("exclusiveMaximum").map(|most| most - 1.0));
        column.choices = property["enum"].as_array().cloned().unwrap_or_default();
        column
    }

    fn stored(&self, name: &str, property: &Value, depth: usize) -> Stored {
        if let Some(value) = property.get("const") {
            return Stored::Known(json!({"type": "constant", "value": value}));
        }
        if let Some(regex) = property["pattern"].as_str() {
            return Stored::Known(json!({"type": "pattern", "regex": regex}));
        }
        let kinds =
            property["type"].as_array().and_then(|kinds| kinds.iter().find(|kind| *kind != "null"));
        let kind = kinds.unwrap_or(&property["type"]).as_str().unwrap_or_default();
        let length = property["maxLength"].as_u64().and_then(|length| u32::try_from(length).ok());
        let known = |field: Value| Stored::Known(field);
        match (kind, property["format"].as_str().unwrap_or_default()) {
            ("integer", _) => Stored::Integer,
            ("number", _) => Stored::Decimal(2),
            ("boolean", _) => Stored::Boolean,
            ("array", _) if depth < DEEPEST => {
                let items = self.column(name, &property["items"], depth + 1);
                let (item, _) = Column { required: true, ..items }.field("");
                let bound = |name: &str| property[name].as_u64().map(|count| count.min(100));
                let least = bound("minItems").unwrap_or(1);
                let most = bound("maxItems").unwrap_or(least.max(3)).max(1);
                known(json!({"type": "array", "min": least, "max": most, "items": item}))
            }
            ("object", _) if depth < DEEPEST => {
                known(json!({"type": "object", "fields": self.fields(property, depth + 1)}))
            }
            (_, "date-time") => Stored::Timestamp,
            (_, "date") => Stored::Date,
            (_, "time") => Stored::Time,
            (_, "uuid") => Stored::Uuid,
            (_, "email" | "idn-email") => known(json!({"type": "person", "part": "email"})),
            (_, "uri" | "url" | "uri-reference" | "iri") => known(json!({"type": "url"})),
            (_, "ipv4") => known(json!({"type": "ip"})),
            (_, "ipv6") => known(json!({"type": "ip", "version": 6})),
            _ if by_name(name).is_none()
                && property["minLength"].as_u64() == length.map(u64::from) =>
            {
                match length {
                    Some(length @ 1..=1_000) => {
                        let regex = format!("[A-Za-z0-9]{{{length}}}");
                        known(json!({"type": "pattern", "regex": regex}))
                    }
                    _ => Stored::Text(None),
                }
            }
            _ => Stored::Text(length),
        }
    }
}
