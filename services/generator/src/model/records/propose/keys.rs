//! Reads the columns of primary keys, unique constraints and unique indexes.

use sqlparser::ast::{
    DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, IndexColumn,
};

use super::checks::literal;
use super::column::Stored;
use super::existing::Existing;

/// Functions that can be ignored in a unique index, because they normally keep generated strings
/// distinct.
const UNWRAPPED: [&str; 7] = ["lower", "upper", "trim", "btrim", "ltrim", "rtrim", "unaccent"];

/// Returns the column names of a key. Expressions other than columns are returned as SQL.
///
/// A MySQL prefix key such as `name(10)` only covers the first characters, so we limit the column's
/// strings to this length.
pub fn key(table: &mut Existing, columns: &[IndexColumn]) -> Vec<String> {
    let mut names = Vec::new();
    for IndexColumn { column, .. } in columns {
        let prefix = prefix(&column.expr);
        if let Some((name, length)) = &prefix
            && let Some(column) = table.find(name)
            && let Stored::Text(longest) = &mut column.stored
        {
            *longest = Some(longest.map_or(*length, |known| known.min(*length)));
        }
        names.push(prefix.map_or_else(|| name_of(&column.expr), |(name, _)| name));
    }
    names
}

/// Adds a unique constraint. If nulls aren't distinct, several rows with nulls would violate it, so
/// the columns don't get any.
pub fn add_unique(table: &mut Existing, columns: Vec<String>, are_nulls_distinct: bool) {
    for name in columns.iter().filter(|_| !are_nulls_distinct) {
        if let Some(column) = table.find(name) {
            column.required = true;
        }
    }
    table.unique.push(columns);
}

/// Splits a prefix key column, which looks like a function call, into its name and length.
fn prefix(expression: &Expr) -> Option<(String, u32)> {
    let Expr::Function(function) = expression else { return None };
    let length = argument(function).and_then(literal)?.as_u64()?;
    let name = function.name.to_string().trim_matches('`').to_owned();
    Some((name, u32::try_from(length).ok()?))
}

fn name_of(expression: &Expr) -> String {
    match expression {
        Expr::Identifier(Ident { value, .. }) => value.clone(),
        Expr::Nested(expr) | Expr::Collate { expr, .. } | Expr::Trim { expr, .. } => name_of(expr),
        Expr::Cast { expr, data_type, .. } if is_text(data_type) => name_of(expr),
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            let is_unwrapped = UNWRAPPED.contains(&name.rsplit('.').next().unwrap_or_default());
            match argument(function).filter(|_| is_unwrapped) {
                Some(inner) => name_of(inner),
                None => expression.to_string(),
            }
        }
        other => other.to_string(),
    }
}

fn is_text(kind: &DataType) -> bool {
    let name = kind.to_string().to_lowercase();
    name.contains("text") || name.contains("char")
}

/// Returns the only argument of a function.
fn argument(function: &Function) -> Option<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return None };
    match &*list.args {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(inner))] => Some(inner),
        _ => None,
    }
}
