//! Proposes schemas for the tables in `CREATE TABLE` statements.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, BinaryOperator, ColumnDef, ColumnOption,
    CreateTable, Expr, GeneratedAs, Ident, IndexColumn, ObjectName, Statement, TableConstraint,
    UnaryOperator, UserDefinedTypeRepresentation, Value as Literal,
};
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use super::column::{Column, Stored};
use super::statements::statements;

const IDENTITY: &str = "AS IDENTITY";

/// An existing table.
struct Existing {
    name: String,
    columns: Vec<Column>,
    key: Vec<String>,
    /// Sets of columns whose combination of values is unique.
    unique: Vec<Vec<String>>,
}

/// Proposes a schema for the tables of `CREATE TABLE` statements of PostgreSQL, MySQL or SQLite, with keys,
/// references and types of other statements, as in dumps. The rest of the file is skipped.
///
/// # Errors
/// A `CREATE TABLE` that no dialect understands, or that there are no tables.
pub fn of_sql(text: &str) -> Result<Value, String> {
    let mut read = Vec::new();
    for part in statements(text) {
        let Some(kind) = Kind::of(part.text) else { continue };
        // The parser does not know the SEQUENCE NAME that pg_dump writes.
        let identity = part.text.find(IDENTITY).filter(|_| kind == Kind::Other);
        let text = identity.map_or(part.text, |at| &part.text[..at + IDENTITY.len()]);
        match parsed(text) {
            Ok(statement) => read.push(statement),
            Err(error) if kind == Kind::Table => {
                return Err(format!("the table at line {}: {error}", part.line));
            }
            Err(_) => {}
        }
    }
    let mut types = HashMap::new();
    for statement in &read {
        if let Statement::CreateType {
            name,
            representation: UserDefinedTypeRepresentation::Enum { labels },
        } = statement
        {
            let labels = labels.iter().map(|label| label.value.clone().into());
            types.insert(last(name), labels.collect::<Vec<Value>>());
        }
    }
    let mut tables: Vec<Existing> = Vec::new();
    for statement in &read {
        match statement {
            Statement::CreateTable(table) if !last(&table.name).starts_with("sqlite_") => {
                tables.push(existing(table, &types));
            }
            Statement::AlterTable { name, operations, .. } => {
                let name = last(name);
                if let Some(table) = tables.iter_mut().find(|table| table.name == name) {
                    operations.iter().for_each(|operation| table.alter(operation));
                }
            }
            Statement::CreateIndex(index) if index.unique && index.predicate.is_none() => {
                let name = last(&index.table_name);
                if let Some(table) = tables.iter_mut().find(|table| table.name == name) {
                    table.unique.push(names(&index.columns));
                }
            }
            _ => {}
        }
    }
    if tables.is_empty() {
        return Err("there is no CREATE TABLE statement".to_owned());
    }
    tables.iter_mut().for_each(Existing::mark_columns);
    resolve(&mut tables);
    let tables: Vec<_> = in_order(tables).iter().map(proposed).collect();
    Ok(json!({"tables": tables}))
}

/// The statements that say something about tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Table,
    Other,
}

impl Kind {
    fn of(statement: &str) -> Option<Self> {
        let words: Vec<_> =
            statement.split_whitespace().take(4).map(str::to_ascii_uppercase).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        match &*words {
            ["CREATE", "VIRTUAL", ..] => None,
            ["CREATE", "TABLE", ..] | ["CREATE", _, "TABLE", ..] | ["CREATE", _, _, "TABLE"] => {
                Some(Self::Table)
            }
            ["ALTER", "TABLE", ..] | ["CREATE", "TYPE", ..] | ["CREATE", "UNIQUE", "INDEX", ..] => {
                Some(Self::Other)
            }
            _ => None,
        }
    }
}

/// Parses a statement in the first dialect that understands it.
fn parsed(text: &str) -> Result<Statement, String> {
    let dialects: [&dyn Dialect; 3] = [&PostgreSqlDialect {}, &MySqlDialect {}, &SQLiteDialect {}];
    let mut errors = Vec::new();
    let found = dialects.iter().find_map(|dialect| {
        Parser::parse_sql(*dialect, text).map_err(|error| errors.push(error.to_string())).ok()
    });
    match found.and_then(|mut statements| statements.pop()) {
        Some(statement) => Ok(statement),
        None => Err(errors.into_iter().next().unwrap_or_default()),
    }
}

fn existing(table: &CreateTable, types: &HashMap<String, Vec<Value>>) -> Existing {
    let columns = table.columns.iter().filter(|definition| !is_computed(definition));
    let mut made = Existing {
        name: last(&table.name),
        columns: columns.map(|definition| column(definition, types)).collect(),
        key: Vec::new(),
        unique: Vec::new(),
    };
    for constraint in &table.constraints {
        made.constrain(constraint);
    }
    made
}

/// Returns whether the database computes a column, so that no row can have a value for it.
fn is_computed(definition: &ColumnDef) -> bool {
    let is_computed = |option: &ColumnOption| {
        matches!(option, ColumnOption::Generated { generation_expr: Some(_), .. })
    };
    definition.options.iter().any(|option| is_computed(&option.option))
}

impl Existing {
    fn constrain(&mut self, constraint: &TableConstraint) {
        match constraint {
            TableConstraint::PrimaryKey { columns, .. } => self.key = names(columns),
            TableConstraint::Unique { columns, .. } => self.unique.push(names(columns)),
            TableConstraint::ForeignKey { columns, foreign_table, referred_columns, .. } => {
                for (place, own) in columns.iter().enumerate() {
                    let target = referred_columns.get(place).map(|column| column.value.clone());
                    if let Some(column) = self.find(&own.value) {
                        column.refers = Some((last(foreign_table), target.unwrap_or_default()));
                    }
                }
            }
            TableConstraint::Check { expr, .. } => {
                for column in &mut self.columns {
                    check(expr, column);
                }
            }
            _ => {}
        }
    }

    fn alter(&mut self, operation: &AlterTableOperation) {
        match operation {
            AlterTableOperation::AddConstraint { constraint, .. } => self.constrain(constraint),
            AlterTableOperation::AlterColumn {
                column_name,
                op: AlterColumnOperation::AddGenerated { generated_as, .. },
            } => {
                if let Some(column) = self.find(&column_name.value) {
                    column.is_hidden = *generated_as == Some(GeneratedAs::Always);
                }
            }
            _ => {}
        }
    }

    /// Notes in columns of which keys they are alone.
    fn mark_columns(&mut self) {
        if let [only] = &*self.key.clone()
            && let Some(column) = self.find(only)
        {
            column.is_key = true;
        }
        for columns in self.unique.clone() {
            if let [only] = &*columns
                && let Some(column) = self.find(only)
            {
                column.unique = true;
            }
        }
        for name in self.key.clone() {
            if let Some(column) = self.find(&name) {
                column.required = true;
            }
        }
    }

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

fn column(definition: &ColumnDef, types: &HashMap<String, Vec<Value>>) -> Column {
    let text = definition.data_type.to_string();
    let stored = stored(&text);
    let mut column = Column::new(definition.name.value.clone(), stored);
    if let Stored::Known(field) = &column.stored
        && let Some(values) = field["values"].as_array().filter(|_| field["type"] == "choice")
    {
        column.choices.clone_from(values);
    }
    // A type of the file, perhaps with the name of its schema.
    let own = text.rsplit('.').next().unwrap_or_default().trim_matches('"');
    if let Some(labels) = types.get(own) {
        column.choices.clone_from(labels);
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
            ColumnOption::Generated { generated_as, generation_expr: None, .. } => {
                column.required = true;
                column.is_hidden = *generated_as == GeneratedAs::Always;
            }
            _ => {}
        }
    }
    column
}

/// Returns the type of the values that a column stores, from the text of its SQL type.
fn stored(text: &str) -> Stored {
    let (name, arguments) = text.split_once('(').unwrap_or((text, ""));
    let arguments: Vec<_> = arguments.trim_end_matches(')').split(',').map(str::trim).collect();
    let number = |place: usize| {
        let digits = arguments.get(place)?.split_whitespace().next()?;
        digits.trim_end_matches(')').parse::<u32>().ok()
    };
    match name.trim().to_lowercase().as_str() {
        "enum" | "set" => {
            let values = arguments.iter().map(|value| value.trim_matches('\''));
            Stored::Known(json!({"type": "choice", "values": values.collect::<Vec<_>>()}))
        }
        "boolean" | "bool" | "bit" => Stored::Boolean,
        "tinyint" if number(0) == Some(1) => Stored::Boolean,
        "date" => Stored::Date,
        "year" => Stored::Known(json!({"type": "integer", "min": 1970, "max": 2030})),
        // An array of PostgreSQL.
        name if name.ends_with("[]") => Stored::Known(json!({"type": "constant", "value": "{}"})),
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
        // As PostgreSQL prints IN.
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. }
            if is_column(left, column) =>
        {
            let mut inner = &**right;
            while let Expr::Nested(expr) | Expr::Cast { expr, .. } = inner {
                inner = expr;
            }
            if let Expr::Array(array) = inner {
                column.choices = array.elem.iter().filter_map(literal).collect();
            }
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
    match expression {
        Expr::Identifier(name) => name.value.eq_ignore_ascii_case(&column.name),
        Expr::Nested(expr) | Expr::Cast { expr, .. } => is_column(expr, column),
        _ => false,
    }
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
