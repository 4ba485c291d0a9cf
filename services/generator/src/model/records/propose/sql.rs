//! Proposes schemas for tables created by `CREATE TABLE` statements.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, ColumnDef, ColumnOption, CreateTable, DataType,
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GeneratedAs, Ident, IndexColumn,
    ObjectName, ObjectType, Statement, TableConstraint, UserDefinedTypeRepresentation,
};
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use super::bodies::{Bodies, shortened, unread};
use super::column::{Column, Stored};
use super::existing::{Existing, Reference, proposed};
use super::partitions::{self, Partition};
use super::rewritten::rewritten;
use super::statements::{is_mysql, statements};
use super::types::stored;
use super::virtual_tables::{created, has_data_of};

const IDENTITY: &str = "AS IDENTITY";
const GLOB: &str = " GLOB '";

/// Types defined in a file.
#[derive(Default)]
struct Types {
    /// The labels of each enum, by lower-case name.
    labels: HashMap<String, Vec<Value>>,
    /// The base type and the checks of each domain, by lower-case name.
    domains: HashMap<String, (DataType, Vec<Expr>)>,
    /// The lower-case names of composite types.
    composites: HashSet<String>,
    is_mysql: bool,
    /// Whether unquoted names are folded to lower case.
    is_folded: bool,
}

/// Proposes a schema for tables created by `CREATE TABLE` statements of PostgreSQL, MySQL or
/// SQLite. As is common in dumps, keys, references and types may be in separate statements. The
/// rest of the file is ignored. Also returns the constraints that rows may violate.
///
/// # Errors
/// Returns an error if a `CREATE TABLE` isn't valid in any dialect, or if the file doesn't create
/// any tables.
pub fn of_sql(text: &str) -> Result<(Value, Vec<String>), String> {
    let (mut read, mut partitions, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    let (mut bodies, mut broken) = (Bodies::new(is_mysql(text)), Vec::new());
    let mut virtual_tables = Vec::new();
    for part in statements(text) {
        virtual_tables.extend(created(part.text));
        let Some(kind) = Kind::of(part.text) else { continue };
        if let Some(partition) = partitions::attached(part.text) {
            partitions.push(partition);
            continue;
        }
        // The SQL parser doesn't support the `SEQUENCE NAME` clause that is written by pg_dump.
        let identity = part.text.find(IDENTITY).filter(|_| kind == Kind::Other);
        let text = identity.map_or(part.text, |at| &part.text[..at + IDENTITY.len()]);
        let divided = partitions::key(text).filter(|_| kind == Kind::Table);
        let whole = divided.as_ref().map_or(text, |(text, ..)| text);
        let at = |error: String| format!("the table at line {}: {error}", part.line);
        let expanded = match kind {
            Kind::Table => bodies.expanded(whole).map_err(at)?,
            Kind::Other => None,
        };
        let (whole, merged) = match &expanded {
            Some(expanded) => (expanded.statement.as_str(), expanded.merged.as_slice()),
            None => (whole, &[][..]),
        };
        let changed = rewritten(whole);
        match understood(changed.as_deref().unwrap_or(whole), &bodies) {
            // If the parser had to drop some columns, the result would be a different key or index.
            Ok((Statement::AlterTable { .. } | Statement::CreateIndex(_), others))
                if !others.is_empty() =>
            {
                broken.extend(unread(text));
            }
            Ok((mut statement, mut others)) => {
                if let Statement::CreateTable(table) = &mut statement {
                    let name = last(&table.name);
                    others.extend(merge(table, merged));
                    bodies.add(&name, whole, merged);
                    broken.extend(others.into_iter().map(|other| (name.clone(), other)));
                }
                if let (Statement::CreateTable(table), Some((_, way, column))) =
                    (&statement, divided)
                {
                    keys.push((last(&table.name), (way, column)));
                }
                read.push(statement);
            }
            Err(error) if kind == Kind::Table => return Err(at(error)),
            Err(_) => broken.extend(unread(text)),
        }
    }
    let types = types(&read, is_mysql(text), is_folded(text));
    let mut tables = tables(&read, &types);
    divide(&mut tables, &partitions, &keys);
    for (name, constraint) in broken {
        if let Some(table) = named(&mut tables, &name) {
            table.broken.push(constraint);
        }
    }
    let is_data = |name: &str| virtual_tables.iter().any(|owner| has_data_of(owner, name));
    tables.retain(|table| !table.columns.is_empty() && !is_data(&table.name));
    if tables.is_empty() {
        return Err("there is no CREATE TABLE statement with columns".to_owned());
    }
    Ok(proposed(tables))
}

/// Adds the constraints from further definitions of a table's columns. Returns the definitions that
/// aren't valid in any dialect.
fn merge(table: &mut CreateTable, definitions: &[String]) -> Vec<String> {
    let mut others = Vec::new();
    for text in definitions {
        let Ok(Statement::CreateTable(read)) = parsed(&format!("CREATE TABLE t ({text})")) else {
            others.push(shortened(text));
            continue;
        };
        for more in read.columns {
            let name = more.name.value;
            let mut columns = table.columns.iter_mut();
            if let Some(own) = columns.find(|own| own.name.value.eq_ignore_ascii_case(&name)) {
                own.options.extend(more.options);
            }
        }
    }
    others
}

/// Returns whether unquoted names are folded to lower case, as in PostgreSQL. For SQLite, this
/// makes no difference, because it ignores letter case.
fn is_folded(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    let others = ["AUTO_INCREMENT", "AUTOINCREMENT", "PRAGMA ", "WITHOUT ROWID"];
    !is_mysql(text) && !others.iter().any(|word| upper.contains(word))
}

/// Finds a table by name. If no table has exactly this name, letter case is ignored.
fn named<'t>(tables: &'t mut [Existing], name: &str) -> Option<&'t mut Existing> {
    let same = tables.iter().position(|table| table.name == name);
    let any = || tables.iter().position(|table| table.name.eq_ignore_ascii_case(name));
    let place = same.or_else(any)?;
    tables.get_mut(place)
}

/// Collects the types defined by `CREATE TYPE` and `CREATE DOMAIN`.
fn types(read: &[Statement], is_mysql: bool, is_folded: bool) -> Types {
    let mut types = Types { is_mysql, is_folded, ..Types::default() };
    for statement in read {
        match statement {
            Statement::CreateType {
                name,
                representation: UserDefinedTypeRepresentation::Enum { labels },
            } => {
                let labels = labels.iter().map(|label| label.value.clone().into());
                types.labels.insert(last(name).to_lowercase(), labels.collect());
            }
            // A composite type without attributes is a placeholder for a type that is defined
            // later.
            Statement::CreateType {
                name,
                representation: UserDefinedTypeRepresentation::Composite { attributes },
            } if !attributes.is_empty() => {
                types.composites.insert(last(name).to_lowercase());
            }
            Statement::CreateDomain(domain) => {
                let checks = domain.constraints.iter().filter_map(|constraint| match constraint {
                    TableConstraint::Check { expr, .. } => Some((**expr).clone()),
                    _ => None,
                });
                let (mut kind, mut checks) = (domain.data_type.clone(), checks.collect::<Vec<_>>());
                if let Some((base, more)) = types.domains.get(&own_name(&kind)) {
                    checks.extend(more.iter().cloned());
                    kind = base.clone();
                }
                types.domains.insert(last(&domain.name).to_lowercase(), (kind, checks));
            }
            _ => {}
        }
    }
    types
}

fn tables(read: &[Statement], types: &Types) -> Vec<Existing> {
    let mut tables: Vec<Existing> = Vec::new();
    for statement in read {
        match statement {
            Statement::CreateTable(table) if !last(&table.name).starts_with("sqlite_") => {
                let table = existing(table, types);
                match tables.iter_mut().find(|known| known.name == table.name) {
                    Some(known) => known.broken.push("another table of this name".to_owned()),
                    None => tables.push(table),
                }
            }
            Statement::AlterTable { name, operations, .. } => {
                if let Some(table) = named(&mut tables, &last(name)) {
                    operations.iter().for_each(|operation| alter(table, operation, types));
                }
            }
            Statement::Drop { object_type: ObjectType::Table, names, .. } => {
                for name in names.iter().map(last) {
                    tables.retain(|table| !table.name.eq_ignore_ascii_case(&name));
                }
            }
            // A partial index is satisfied, too, if all rows are unique.
            Statement::CreateIndex(index) if index.unique => {
                if let Some(table) = named(&mut tables, &last(&index.table_name)) {
                    table.unique.push(names(&index.columns));
                }
            }
            _ => {}
        }
    }
    tables
}

/// Removes the partitions, because their rows belong to the parent tables, and limits the parents
/// to values that the partitions accept.
fn divide(tables: &mut Vec<Existing>, partitions: &[Partition], keys: &[(String, (&str, String))]) {
    let is_same = |left: &str, right: &str| left.eq_ignore_ascii_case(right);
    tables.retain(|table| partitions.iter().all(|own| !is_same(&own.name, &table.name)));
    for (name, (way, column)) in keys {
        let own: Vec<_> = partitions.iter().filter(|own| is_same(&own.parent, name)).collect();
        let Some(table) = named(tables, name) else { continue };
        let is_kept = table.find(column).is_some_and(|column| partitions::limit(way, column, &own));
        if !is_kept {
            table.broken.push(format!("the partitioning by {column}"));
        }
    }
}

/// Statements that are relevant to tables.
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
            ["ALTER" | "DROP", "TABLE", ..]
            | ["CREATE", "TYPE" | "DOMAIN", ..]
            | ["CREATE", "UNIQUE", "INDEX", ..] => Some(Self::Other),
            _ => None,
        }
    }
}

/// Parses a statement in the first dialect in which it is valid.
fn parsed(text: &str) -> Result<Statement, String> {
    let dialects: [&dyn Dialect; 3] = [&PostgreSqlDialect {}, &MySqlDialect {}, &SQLiteDialect {}];
    let mut errors = Vec::new();
    let found = dialects.iter().find_map(|dialect| {
        Parser::parse_sql(*dialect, text).map_err(|error| errors.push(error.to_string())).ok()
    });
    match found.and_then(|mut statements| statements.pop()) {
        Some(statement) => Ok(statement),
        None if text.contains(GLOB) => parsed(&without_globs(text)),
        None => Err(errors.into_iter().next().unwrap_or_default()),
    }
}

/// Parses a statement. If that fails, leaves out those columns and constraints of a table that
/// aren't valid in any dialect, and returns them as well.
fn understood(text: &str, bodies: &Bodies) -> Result<(Statement, Vec<String>), String> {
    let error = match parsed(text) {
        Ok(statement) => return Ok((statement, Vec::new())),
        Err(error) => error,
    };
    let known = bodies.understood(text, |item| parsed(item).is_ok());
    match known.and_then(|(text, others)| Some((parsed(&text).ok()?, others))) {
        Some(statement) => Ok(statement),
        None => Err(error),
    }
}

/// Replaces SQLite's GLOB, which the SQL parser doesn't support, with regular expressions whose
/// matches also match the GLOB pattern.
fn without_globs(text: &str) -> String {
    let mut parts = text.split(GLOB);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (glob, rest) = part.split_once('\'').unwrap_or((part, ""));
        whole.push_str(" REGEXP '");
        for letter in glob.chars() {
            match letter {
                '*' => whole.push_str("[a-z0-9]{8}"),
                '?' => whole.push_str("[a-z0-9]"),
                '[' | ']' | '-' | '^' => whole.push(letter),
                letter => whole.push_str(&regex_syntax::escape(&letter.to_string())),
            }
        }
        whole.push('\'');
        whole.push_str(rest);
    }
    whole
}

fn existing(table: &CreateTable, types: &Types) -> Existing {
    let name = table.name.0.last().and_then(|part| part.as_ident());
    let name = name.map(|name| spelled(name, types)).unwrap_or_default();
    let mut made = Existing::new(name, Vec::new());
    for definition in &table.columns {
        add(&mut made, definition, types);
    }
    for constraint in &table.constraints {
        constrain(&mut made, constraint);
    }
    made
}

/// Returns a name in the spelling that the database uses.
fn spelled(name: &Ident, types: &Types) -> String {
    match name.quote_style {
        None if types.is_folded => name.value.to_lowercase(),
        _ => name.value.clone(),
    }
}

/// Adds a column, unless it is computed by the database.
fn add(table: &mut Existing, definition: &ColumnDef, types: &Types) {
    if is_computed(definition) {
        return;
    }
    let column = column(definition, types);
    let name = column.name.clone();
    table.columns.push(column);
    for option in &definition.options {
        match &option.option {
            ColumnOption::Unique { is_primary: true, .. } => table.key = vec![name.clone()],
            ColumnOption::Check(check) => table.checks.push((check.clone(), None)),
            _ => {}
        }
    }
    let own = own_name(&definition.data_type);
    // The checks of a domain apply to the column.
    let domain = types.domains.get(&own);
    if let Some((_, checks)) = domain {
        table.checks.extend(checks.iter().map(|check| (check.clone(), Some(name.clone()))));
    }
    let base = domain.map_or(own, |(base, _)| own_name(base));
    if types.composites.contains(&base) {
        table.broken.push(format!("the composite type {base} of {name}"));
    }
}

/// Returns whether the column is computed by the database, so that rows can't contain values for
/// it.
fn is_computed(definition: &ColumnDef) -> bool {
    let is_computed = |option: &ColumnOption| {
        matches!(option, ColumnOption::Generated { generation_expr: Some(_), .. })
    };
    definition.options.iter().any(|option| is_computed(&option.option))
}

fn constrain(table: &mut Existing, constraint: &TableConstraint) {
    match constraint {
        TableConstraint::PrimaryKey { columns, .. } => table.key = names(columns),
        TableConstraint::Unique { columns, .. } => table.unique.push(names(columns)),
        TableConstraint::ForeignKey { columns, foreign_table, referred_columns, .. } => {
            let texts = |columns: &[Ident]| columns.iter().map(|own| own.value.clone()).collect();
            table.references.push(Reference {
                columns: texts(columns),
                table: last(foreign_table),
                targets: texts(referred_columns),
            });
        }
        TableConstraint::Check { expr, .. } => table.checks.push(((**expr).clone(), None)),
        _ => {}
    }
}

fn alter(table: &mut Existing, operation: &AlterTableOperation, types: &Types) {
    match operation {
        AlterTableOperation::AddColumn { column_def, .. } => add(table, column_def, types),
        AlterTableOperation::DropColumn { column_names, .. } => {
            for name in column_names {
                table.columns.retain(|own| !own.name.eq_ignore_ascii_case(&name.value));
            }
        }
        AlterTableOperation::AlterColumn {
            column_name,
            op: op @ (AlterColumnOperation::SetNotNull | AlterColumnOperation::DropNotNull),
        } => {
            if let Some(column) = table.find(&column_name.value) {
                column.required = *op == AlterColumnOperation::SetNotNull;
            }
        }
        AlterTableOperation::RenameColumn { .. }
        | AlterTableOperation::RenameTable { .. }
        | AlterTableOperation::ChangeColumn { .. }
        | AlterTableOperation::ModifyColumn { .. }
        | AlterTableOperation::AlterColumn {
            op: AlterColumnOperation::SetDataType { .. }, ..
        } => table.broken.push(format!("ALTER TABLE {} {operation}", table.name)),
        AlterTableOperation::AddConstraint { constraint, .. } => constrain(table, constraint),
        AlterTableOperation::AlterColumn {
            column_name,
            op: AlterColumnOperation::AddGenerated { generated_as, .. },
        } => {
            if let Some(column) = table.find(&column_name.value) {
                column.is_hidden = *generated_as == Some(GeneratedAs::Always);
            }
        }
        _ => {}
    }
}

/// Returns the name of a type defined in the file, in lower case and without its schema.
fn own_name(kind: &DataType) -> String {
    kind.to_string().rsplit('.').next().unwrap_or_default().trim_matches('"').to_lowercase()
}

fn column(definition: &ColumnDef, types: &Types) -> Column {
    let own = own_name(&definition.data_type);
    let kind = types.domains.get(&own).map_or(&definition.data_type, |(base, _)| base);
    let (stored, limit) = stored(kind, types.is_mysql);
    let name = spelled(&definition.name, types);
    // Older MySQL versions don't accept offsets.
    let mut column = Column { limit, is_local: types.is_mysql, ..Column::new(name, stored) };
    if let Stored::Known(field) = &column.stored
        && let Some(values) = field["values"].as_array().filter(|_| field["type"] == "choice")
    {
        column.choices.clone_from(values);
    }
    if let Some(labels) = types.labels.get(&own_name(kind)) {
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

/// Returns the names of indexed columns. Functions such as `lower` and `trim` are unwrapped,
/// because generated unique strings normally still differ after applying these.
fn names(columns: &[IndexColumn]) -> Vec<String> {
    columns.iter().map(|column| name_of(&column.column.expr)).collect()
}

fn name_of(expression: &Expr) -> String {
    match expression {
        Expr::Identifier(Ident { value, .. }) => value.clone(),
        Expr::Nested(expr) | Expr::Cast { expr, .. } | Expr::Trim { expr, .. } => name_of(expr),
        Expr::Function(function) => match &function.args {
            // In a MySQL prefix index such as `name(10)`, the column name looks like the name of a
            // function.
            FunctionArguments::List(list) => match &*list.args {
                [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(_)))] => {
                    function.name.to_string().trim_matches('`').to_owned()
                }
                [FunctionArg::Unnamed(FunctionArgExpr::Expr(inner))] => name_of(inner),
                _ => expression.to_string(),
            },
            _ => expression.to_string(),
        },
        other => other.to_string(),
    }
}

/// Returns the name of a table without its schema.
fn last(name: &ObjectName) -> String {
    let part = name.0.last().and_then(|part| part.as_ident());
    part.map(|ident| ident.value.clone()).unwrap_or_default()
}
