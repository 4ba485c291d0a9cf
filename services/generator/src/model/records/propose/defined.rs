//! User-defined types in SQL files.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use sqlparser::ast::{
    DataType, Expr, ObjectName, Statement, TableConstraint, UserDefinedTypeRepresentation,
};

/// Types defined in a file.
#[derive(Default)]
pub struct Types {
    /// The labels of each enum, by lower-case name.
    pub labels: HashMap<String, Vec<Value>>,
    /// The base type and the checks of each domain, by lower-case name.
    pub domains: HashMap<String, (DataType, Vec<Expr>)>,
    /// The lower-case names of composite types.
    pub composites: HashSet<String>,
    /// The lower-case names of range types.
    pub ranges: HashSet<String>,
    pub is_mysql: bool,
    /// Whether unquoted names are folded to lower case.
    pub is_folded: bool,
}

impl Types {
    /// Adds the types defined by `CREATE TYPE` and `CREATE DOMAIN`.
    pub fn collect(&mut self, read: &[Statement]) {
        for statement in read {
            match statement {
                Statement::CreateType {
                    name,
                    representation: UserDefinedTypeRepresentation::Enum { labels },
                } => {
                    let labels = labels.iter().map(|label| label.value.clone().into());
                    self.labels.insert(last(name), labels.collect());
                }
                // A composite type without attributes is a placeholder for a type that is defined
                // later.
                Statement::CreateType {
                    name,
                    representation: UserDefinedTypeRepresentation::Composite { attributes },
                } if !attributes.is_empty() => {
                    self.composites.insert(last(name));
                }
                Statement::CreateDomain(domain) => {
                    let checks =
                        domain.constraints.iter().filter_map(|constraint| match constraint {
                            TableConstraint::Check { expr, .. } => Some((**expr).clone()),
                            _ => None,
                        });
                    let (mut kind, mut checks) =
                        (domain.data_type.clone(), checks.collect::<Vec<_>>());
                    if let Some((base, more)) = self.domains.get(&own_name(&kind)) {
                        checks.extend(more.iter().cloned());
                        kind = base.clone();
                    }
                    self.domains.insert(last(&domain.name), (kind, checks));
                }
                _ => {}
            }
        }
    }
}

/// Returns the lower-case name of a range type that a statement creates, which the SQL parser
/// doesn't support.
pub fn range(statement: &str) -> Option<String> {
    let words: Vec<_> = statement.split_whitespace().take(5).collect();
    let [_, kind, name, as_word, range] = words[..] else { return None };
    let range = range.split('(').next().unwrap_or_default();
    let is_range = kind.eq_ignore_ascii_case("TYPE")
        && as_word.eq_ignore_ascii_case("AS")
        && range.eq_ignore_ascii_case("RANGE");
    let name = name.rsplit('.').next()?.trim_matches('"');
    is_range.then(|| name.to_lowercase())
}

/// Returns the name of a type defined in the file, in lower case and without its schema.
pub fn own_name(kind: &DataType) -> String {
    kind.to_string().rsplit('.').next().unwrap_or_default().trim_matches('"').to_lowercase()
}

/// Returns the name of a type or table in lower case, without its schema.
pub fn last(name: &ObjectName) -> String {
    let part = name.0.last().and_then(|part| part.as_ident());
    part.map(|ident| ident.value.to_lowercase()).unwrap_or_default()
}
