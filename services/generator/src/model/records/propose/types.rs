//! SQL column types and the values they store.

use serde_json::{Value, json};
use sqlparser::ast::{DataType, EnumMember};

use super::column::Stored;

/// Returns the type of a column's values and the largest number that it can store.
pub fn stored(kind: &DataType, is_mysql: bool) -> (Stored, Option<f64>) {
    let choice =
        |values: Vec<&String>| (Stored::Known(json!({"type": "choice", "values": values})), None);
    match kind {
        DataType::Enum(members, _) => {
            return choice(
                members
                    .iter()
                    .map(|member| match member {
                        EnumMember::Name(name) | EnumMember::NamedValue(name, _) => name,
                    })
                    .collect(),
            );
        }
        DataType::Set(values) => return choice(values.iter().collect()),
        _ => {}
    }
    of_name(&kind.to_string().to_lowercase(), is_mysql)
}

/// MySQL types whose values can't be written as strings.
const SHAPES: [&str; 10] = [
    "point",
    "geometry",
    "geography",
    "polygon",
    "linestring",
    "multipoint",
    "multipolygon",
    "multilinestring",
    "geometrycollection",
    "geomcollection",
];

/// PostgreSQL types, each with a regular expression that matches some of its values.
const LITERALS: [(&str, &str); 18] = [
    ("point", r"\([1-8][0-9],[1-8][0-9]\)"),
    ("box", r"\([5-8][0-9],[5-8][0-9]\),\([1-4][0-9],[1-4][0-9]\)"),
    ("lseg", r"\[\([1-4][0-9],[1-4][0-9]\),\([5-8][0-9],[5-8][0-9]\)\]"),
    ("line", r"\{[1-9],[1-9],[1-9][0-9]\}"),
    ("path", r"\[\([1-4][0-9],[1-4][0-9]\),\([5-8][0-9],[5-8][0-9]\)\]"),
    ("polygon", r"\(\([1-4][0-9],0\),\([5-8][0-9],[1-4][0-9]\),\(0,[5-8][0-9]\)\)"),
    ("circle", r"<\([1-8][0-9],[1-8][0-9]\),[1-9]>"),
    ("pg_lsn", "[1-9A-F]/[1-9A-F][0-9A-F]{6}"),
    ("jsonpath", r"\$\.[a-z]{6}"),
    ("txid_snapshot", "1[0-9]{3}:2[0-9]{3}:"),
    ("pg_snapshot", "1[0-9]{3}:2[0-9]{3}:"),
    ("xid", "[1-9][0-9]{6}"),
    ("xid8", "[1-9][0-9]{6}"),
    ("cid", "[1-9][0-9]{3}"),
    ("regclass", "pg_class"),
    ("regtype", "text"),
    ("regnamespace", "pg_catalog"),
    ("regconfig", "simple"),
];

/// Types that accept any string.
const TEXTS: [&str; 33] = [
    "",
    "any",
    "binary",
    "blob",
    "bpchar",
    "bytea",
    "char",
    "char varying",
    "character",
    "character large object",
    "character varying",
    "citext",
    "clob",
    "fixedstring",
    "longblob",
    "longtext",
    "long varchar",
    "mediumblob",
    "mediumtext",
    "name",
    "national character",
    "national character varying",
    "national varchar",
    "native character",
    "nchar",
    "ntext",
    "nvarchar",
    "string",
    "text",
    "tinyblob",
    "tinytext",
    "varbinary",
    "varchar",
];

/// Returns whether we don't know a type's values. If so, [`stored`] treats them as strings.
pub fn is_unknown(kind: &DataType, is_mysql: bool) -> bool {
    let text = kind.to_string().to_lowercase();
    let (name, _) = base(&text);
    matches!(stored(kind, is_mysql).0, Stored::Text(_)) && !TEXTS.contains(&name)
}

/// Splits a type into its name and its arguments.
fn base(text: &str) -> (&str, &str) {
    let (name, arguments) = text.split_once('(').unwrap_or((text, ""));
    let arguments = arguments.split_once(')').map_or("", |(inside, _)| inside);
    // The name of an extension type can be qualified with a schema.
    let name = name.trim().rsplit('.').next().unwrap_or_default().trim_matches('"');
    (name.trim_end_matches(" unsigned"), arguments)
}

fn of_name(text: &str, is_mysql: bool) -> (Stored, Option<f64>) {
    let (name, arguments) = base(text);
    let number = |place: usize| arguments.split(',').nth(place)?.trim().parse::<u32>().ok();
    let known = |field: Value| (Stored::Known(field), None);
    let pattern = |regex: &str| known(json!({"type": "pattern", "regex": regex}));
    let literal = LITERALS.iter().find(|(own, _)| *own == name && !is_mysql);
    if let Some((_, regex)) = literal {
        return pattern(regex);
    }
    match name {
        "boolean" | "bool" => (Stored::Boolean, None),
        "bit" if is_mysql => (Stored::Boolean, None),
        "bit" | "bit varying" | "varbit" => pattern(&format!("[01]{{{}}}", number(0).unwrap_or(1))),
        "tinyint" if number(0) == Some(1) => (Stored::Boolean, None),
        "date" => (Stored::Date, None),
        "year" => known(json!({"type": "integer", "min": 1970, "max": 2030})),
        // A PostgreSQL array, with or without a size.
        _ if text.ends_with(']') => known(json!({"type": "constant", "value": "{}"})),
        "uuid" | "uniqueidentifier" => (Stored::Uuid, None),
        "json" | "jsonb" => (Stored::Known(object()), None),
        "inet" | "inet4" => known(json!({"type": "ip"})),
        "inet6" => known(json!({"type": "ip", "version": 6})),
        "cidr" => pattern("10\\.[1-9][0-9]\\.[1-9][0-9]\\.0/24"),
        "macaddr" => known(json!({"type": "mac"})),
        "macaddr8" => {
            pattern("02:[0-9a-f]{2}:[0-9a-f]{2}:ff:fe:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}")
        }
        _ if name.starts_with("interval") => {
            // The database discards everything that is smaller than the last unit.
            let units = ["year", "month", "day", "hour", "minute", "second"];
            let unit = units.into_iter().find(|unit| name.contains(unit)).unwrap_or("day");
            pattern(&format!("[1-9][0-9] {unit}s"))
        }
        _ if is_mysql && SHAPES.contains(&name) => {
            known(json!({"type": "constant", "value": null}))
        }
        "geometry" | "geography" if arguments.is_empty() || arguments.starts_with("point") => {
            let reference = number(1).map_or_else(String::new, |id| format!("SRID={id};"));
            pattern(&format!("{reference}POINT\\([1-8][0-9] [1-8][0-9]\\)"))
        }
        "xml" => known(json!({"type": "constant", "value": "<a/>"})),
        "hstore" => known(json!({"type": "constant", "value": ""})),
        "ltree" => pattern("[a-z]{6}\\.[a-z]{6}"),
        "tsvector" | "tsquery" => pattern("[a-z]{8}"),
        _ if name.ends_with("multirange") => known(json!({"type": "constant", "value": "{}"})),
        _ if name.ends_with("range") => known(json!({"type": "constant", "value": "empty"})),
        "decimal" | "numeric" | "dec" | "fixed" | "money" => decimal(number(0), number(1)),
        // In MySQL, types with a precision and scale have a maximum.
        "float" | "real" | "double" | "double precision" | "float4" | "float8" => match number(1) {
            Some(decimals) => decimal(number(0), Some(decimals)),
            None => (Stored::Decimal(3), None),
        },
        _ if name.starts_with("timestamp") || name.starts_with("datetime") => {
            (Stored::Timestamp, None)
        }
        _ if name.starts_with("time") => (Stored::Time, None),
        "oid" => (Stored::Integer, Some(2_147_483_647.0)),
        _ if name.contains("int") || name.contains("serial") => (Stored::Integer, largest(name)),
        // Without a length, these types hold one character.
        "char" | "character" | "nchar" | "national character" | "binary" => {
            (Stored::Text(number(0).or(Some(1))), None)
        }
        _ => (Stored::Text(number(0)), None),
    }
}

/// A generic JSON object.
pub fn object() -> Value {
    json!({"type": "object", "fields": [
        {"name": "key", "type": "text", "words": 1}, {"name": "value", "type": "integer"}]})
}

fn decimal(digits: Option<u32>, decimals: Option<u32>) -> (Stored, Option<f64>) {
    // In SQL, a precision without a scale implies a scale of 0.
    let decimals = decimals.unwrap_or(if digits.is_some() { 0 } else { 2 });
    let limit = digits.map(|digits| {
        let whole = 10_f64.powi(digits.min(100).cast_signed() - decimals.min(100).cast_signed());
        whole - 10_f64.powi(-(decimals.min(9).cast_signed()))
    });
    (Stored::Decimal(decimals.min(9)), limit)
}

/// Returns the largest number that an integer type can store, whether signed or unsigned.
fn largest(name: &str) -> Option<f64> {
    let starts_with_any = |names: &[&str]| names.iter().any(|own| name.starts_with(own));
    if starts_with_any(&["tinyint"]) {
        Some(127.0)
    } else if starts_with_any(&["smallint", "int2", "smallserial", "serial2"]) {
        Some(32_767.0)
    } else if starts_with_any(&["mediumint"]) {
        Some(8_388_607.0)
    } else if starts_with_any(&["bigint", "int8", "bigserial", "serial8"]) {
        None
    } else {
        Some(2_147_483_647.0)
    }
}
