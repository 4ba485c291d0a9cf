//! Proposes schemas for the tables in `CREATE TABLE` statements.

use std::collections::HashSet;

use serde_json::{Value, json};
use sqlparser::ast::{
    BinaryOperator, ColumnDef, ColumnOption, CreateTable, Expr, Ident, IndexColumn, ObjectName,
    Statement, TableConstraint, UnaryOperator, Value as Literal,
};
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use super::column::{Column, Stored};

/// An existing table.
struct Existing {
    name: String,
    columns: Vec<Column>,
    key: Vec<String>,
    /// Sets of columns whose combination of values is unique.
    unique: Vec<Vec<String>>,
}

/// Proposes a schema for the tables in `CREATE TABLE` statements of PostgreSQL, MySQL or SQLite.
/// Other statements are skipped.
///
/// # Errors
/// Returns the error for PostgreSQL if none of the dialects can parse the text, or an error if it
/// does not create any table.
pub fn of_sql(text: &str) -> Result<Value, String> {
    let dialects: [&dyn Dialect; 3] = [&PostgreSqlDialect {}, &MySqlDialect {}, &SQLiteDialect {}];
    let mut errors = Vec::new();
    let statements = dialects.iter().find_map(|dialect| {
        Parser::parse_sql(*dialect, text).map_err(|error| errors.push(error.to_string())).ok()
    });
    let statements = statements.ok_or_else(|| errors.swap_remove(0))?;
    let mut tables = Vec::new();
    for statement in statements {
        if let Statement::CreateTable(table) = statement {
            tables.push(existing(&table));
        }
    }
    if tables.is_empty() {
        return Err("there is no CREATE TABLE statement".to_owned());
    }
    resolve(&mut tables);
    let tables: Vec<_> = in_order(tables).iter().map(proposed).collect();
    Ok(json!({"tables": tables}))
}

fn existing(table: &CreateTable) -> Existing {
    let mut made = Existing {
        name: last(&table.name),
        columns: table.columns.iter().map(column).collect(),
        key: Vec::new(),
        unique: Vec::new(),
    };
    for constraint in &table.constraints {
        match constraint {
            TableConstraint::PrimaryKey { columns, .. } => made.key = names(columns),
            TableConstraint::Unique { columns, .. } => made.unique.push(names(columns)),
            TableConstraint::ForeignKey { columns, foreign_table, referred_columns, .. } => {
                for (place, own) in columns.iter().enumerate() {
                    let target = referred_columns.get(place).map(|column| column.value.clone());
                    if let Some(column) = made.find(&own.value) {
                        column.refers = Some((last(foreign_table), target.unwrap_or_default()));
                    }
                }
            }
            TableConstraint::Check { expr, .. } => {
                for column in &mut made.columns {
                    check(expr, column);
                }
            }
            _ => {}
        }
    }
    if let [only] = &*made.key.clone()
        && let Some(column) = made.find(only)
    {
        column.is_key = true;
    }
    for columns in made.unique.clone() {
        if let [only] = &*columns
            && let Some(column) = made.find(only)
        {
            column.unique = true;
        }
    }
    for name in made.key.clone() {
        if let Some(column) = made.find(&name) {
            column.required = true;
        }
    }
    made
}

impl Existing {
    fn find(&mut self, name: &str) -> Option<&mut Column> {
        self.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Returns two references that together identify a row.
    fn pair(&self) -> Option<[&str; 2]> {
        let sets = std::iter::once(&self.key).chain(&self.unique);
        let refers = |name: &String| {
            let column =
                self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))?;
            let (table, _) = column.refers.as_ref()?;
            (*table != self.name).then_some(column.name.as_str())
        };
        sets.filter_map(|set| match &**set {
            [first, second] => Some([refers(first)?, refers(second)?]),
            _ => None,
        })
        .next()
    }
}

fn proposed(table: &Existing) -> Value {
    let fields: Vec<_> =
        table.columns.iter().flat_map(|column| column.fields(&table.name)).collect();
    let mut proposed = json!({"name": table.name, "fields": fields});
    if let Some(pair) = table.pair() {
        proposed["uniquePair"] = json!(pair);
    }
    proposed
}

/// Completes references without a column: they refer to the key of the table.
fn resolve(tables: &mut [Existing]) {
    let keys: Vec<_> = tables
        .iter()
        .map(|table| {
            let key = table.columns.iter().find(|column| column.is_key).or(table.columns.first());
            (table.name.clone(), key.map(|column| column.name.clone()).unwrap_or_default())
        })
        .collect();
    let names: HashSet<_> = keys.iter().map(|(name, _)| name.clone()).collect();
    for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
        // A table that is not in the file cannot be referred to.
        column.refers = column.refers.take().filter(|(table, _)| names.contains(table));
        if let Some((table, own)) = &mut column.refers
            && own.is_empty()
        {
            let key = keys.iter().find(|(name, _)| name == table);
            *own = key.map(|(_, key)| key.clone()).unwrap_or_default();
        }
    }
}

/// Sorts the tables so that each follows the tables that it refers to. Cycles keep the order of the
/// file.
fn in_order(mut left: Vec<Existing>) -> Vec<Existing> {
    let mut ordered: Vec<Existing> = Vec::new();
    while !left.is_empty() {
        let is_free = |table: &Existing| {
            table.columns.iter().filter_map(|column| column.refers.as_ref()).all(|(name, _)| {
                *name == table.name || ordered.iter().any(|before| before.name == *name)
            })
        };
        let next = left.iter().position(is_free).unwrap_or(0);
        let table = left.remove(next);
        ordered.push(table);
    }
    ordered
}

fn column(definition: &ColumnDef) -> Column {
    let stored = stored(&definition.data_type.to_string());
    let mut column = Column::new(definition.name.value.clone(), stored);
    if let Stored::Known(field) = &column.stored
        && let Some(values) = field["values"].as_array().filter(|_| field["type"] == "choice")
    {
        column.choices.clone_from(values);
    }
    for option in &definition.options {
        match &option.option {
            ColumnOption::NotNull => column.required = true,
            ColumnOption::Unique { is_primary, .. } => {
                column.unique = true;
                column.is_key = *is_primary;
            }
            ColumnOption::ForeignKey { foreign_table, referred_columns, .. } => {
                let target = referred_columns.first().map(|column| column.value.clone());
                column.refers = Some((last(foreign_table), target.unwrap_or_default()));
            }
            ColumnOption::Check(expression) => check(expression, &mut column),
            ColumnOption::Identity(_) => column.required = true,
            _ => {}
        }
    }
    column
}

/// Returns the type of the values that a column stores, from the text of its SQL type.
fn stored(text: &str) -> Stored {
    let text = text.to_lowercase();
    let (name, arguments) = text.split_once('(').unwrap_or((&text, ""));
    let arguments: Vec<_> = arguments.trim_end_matches(')').split(',').map(str::trim).collect();
    let number = |place: usize| {
        let digits = arguments.get(place)?.split_whitespace().next()?;
        digits.trim_end_matches(')').parse::<u32>().ok()
    };
    match name.trim() {
        "enum" | "set" => {
            let values = arguments.iter().map(|value| value.trim_matches('\''));
            Stored::Known(json!({"type": "choice", "values": values.collect::<Vec<_>>()}))
        }
        "boolean" | "bool" | "bit" => Stored::Boolean,
        "tinyint" if number(0) == Some(1) => Stored::Boolean,
        "date" => Stored::Date,
        "uuid" | "uniqueidentifier" => Stored::Uuid,
        "json" | "jsonb" => Stored::Known(json!({"type": "object", "fields": [
            {"name": "key", "type": "text", "words": 1}, {"name": "value", "type": "integer"}]})),
        "inet" => Stored::Known(json!({"type": "ip"})),
        "macaddr" => Stored::Known(json!({"type": "mac"})),
        "decimal" | "numeric" | "dec" | "money" => Stored::Decimal(number(1).unwrap_or(2).min(9)),
        "float" | "real" | "double" | "double precision" | "float4" | "float8" => {
            Stored::Decimal(3)
        }
        name if name.starts_with("timestamp") || name.starts_with("datetime") => Stored::Timestamp,
        name if name.starts_with("time") => Stored::Time,
        name if name.contains("int") || name.contains("serial") => Stored::Integer,
        _ => Stored::Text(number(0)),
    }
}

/// Applies a check on one column: `IN`, comparisons and `BETWEEN`, joined by `AND`.
fn check(expression: &Expr, column: &mut Column) {
    match expression {
        Expr::Nested(inner) => check(inner, column),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            check(left, column);
            check(right, column);
        }
        Expr::InList { expr, list, negated: false } if is_column(expr, column) => {
            column.choices = list.iter().filter_map(literal).collect();
        }
        Expr::Between { expr, negated: false, low, high } if is_column(expr, column) => {
            column.least = literal(low).and_then(|value| value.as_f64());
            column.most = literal(high).and_then(|value| value.as_f64());
        }
        Expr::BinaryOp { left, op, right } if is_column(left, column) => {
            let Some(bound) = literal(right).and_then(|value| value.as_f64()) else { return };
            match op {
                BinaryOperator::GtEq => column.least = Some(bound),
                BinaryOperator::LtEq => column.most = Some(bound),
                BinaryOperator::Gt => column.least = Some(bound + 1.0),
                BinaryOperator::Lt => column.most = Some(bound - 1.0),
                _ => {}
            }
        }
        _ => {}
    }
}

fn is_column(expression: &Expr, column: &Column) -> bool {
    matches!(expression, Expr::Identifier(name) if name.value.eq_ignore_ascii_case(&column.name))
}

fn literal(expression: &Expr) -> Option<Value> {
    match expression {
        Expr::Value(value) => match &value.value {
            Literal::Number(digits, _) => digits.parse::<f64>().ok().map(number),
            Literal::SingleQuotedString(text) => Some(text.clone().into()),
            Literal::Boolean(value) => Some((*value).into()),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            literal(expr)?.as_f64().map(|value| number(-value))
        }
        Expr::Cast { expr, .. } => literal(expr),
        _ => None,
    }
}

fn number(value: f64) -> Value {
    if value.fract() == 0.0 { (value as i64).into() } else { value.into() }
}

fn names(columns: &[IndexColumn]) -> Vec<String> {
    let name = |column: &IndexColumn| match &column.column.expr {
        Expr::Identifier(Ident { value, .. }) => value.clone(),
        other => other.to_string(),
    };
    columns.iter().map(name).collect()
}

/// Returns the name of a table without its schema.
fn last(name: &ObjectName) -> String {
    let part = name.0.last().and_then(|part| part.as_ident());
    part.map(|ident| ident.value.clone()).unwrap_or_default()
}
