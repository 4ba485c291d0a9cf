//! Proposes schemas for tables created by `CREATE TABLE` statements.

use serde_json::{Value, json};
use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, ColumnDef, ColumnOption, CreateTable, DataType,
    GeneratedAs, Ident, NullsDistinctOption, ObjectType, SequenceOptions, Statement,
    TableConstraint,
};

use super::bodies::{Bodies, shortened, unread};
use super::column::{Column, Stored};
use super::defined::{Types, last, own_name, range};
use super::dialects::parsed;
use super::existing::{Existing, Reference, is_name, named, proposed};
use super::keys::{add_unique, key};
use super::partitions::{self, Partition};
use super::qualified::{full, spelled};
use super::rewritten::{rewritten, with_simple_identities};
use super::statements::{Part, is_mysql, statements};
use super::types::{is_unknown, stored};
use super::virtual_tables::{created, has_data_of};

/// A schema for existing tables.
pub struct Proposed {
    pub schema: Value,
    /// The constraints that rows might violate.
    pub broken: Vec<String>,
    /// The tables that aren't in the schema, each with the reason.
    pub left_out: Vec<String>,
}

/// Proposes a schema for `CREATE TABLE` statements in PostgreSQL, MySQL or SQLite syntax. As is
/// common in dumps, keys, references and types can be in separate statements. The rest of the file
/// is ignored.
///
/// # Errors
/// Returns an error if the file doesn't create any tables that are valid in some dialect.
pub fn of_sql(text: &str) -> Result<Proposed, String> {
    let mut file = File::new(text);
    for part in statements(text) {
        file.read(&part)?;
    }
    let File { read, partitions, keys, broken, virtual_tables, mut left_out, mut types, .. } = file;
    types.collect(&read);
    let mut tables = tables(&read, &types);
    partitions::divide(&mut tables, &partitions, &keys);
    for (name, constraint) in broken {
        if let Some(table) = named(&mut tables, &name) {
            table.broken.push(constraint);
        }
    }
    let is_data = |name: &str| virtual_tables.iter().any(|owner| has_data_of(owner, name));
    tables.retain(|table| !is_data(&table.name));
    tables.retain(|table| {
        let why = match &table.name {
            name if !is_name(name) => "no table of a schema can have its name",
            _ if table.columns.is_empty() => "it has no columns that can be read",
            _ if table.columns.iter().all(|own| own.identity.is_some()) => {
                "only the database writes its columns"
            }
            _ => return true,
        };
        left_out.push(format!("{}: {why}", table.name));
        false
    });
    if tables.is_empty() {
        let why = "there is no CREATE TABLE statement with columns".to_owned();
        return Err(left_out.into_iter().next().unwrap_or(why));
    }
    let (schema, broken) = proposed(tables);
    Ok(Proposed { schema, broken, left_out })
}

/// The statements of a file.
struct File<'t> {
    read: Vec<Statement>,
    partitions: Vec<Partition>,
    /// The strategy and the first column of each partitioned table's key, by table.
    keys: Vec<(String, (&'t str, String))>,
    bodies: Bodies,
    /// The constraints that rows might violate, by table.
    broken: Vec<(String, String)>,
    virtual_tables: Vec<String>,
    left_out: Vec<String>,
    types: Types,
}

impl<'t> File<'t> {
    fn new(text: &str) -> Self {
        let types =
            Types { is_mysql: is_mysql(text), is_folded: is_folded(text), ..Types::default() };
        Self {
            read: Vec::new(),
            partitions: Vec::new(),
            keys: Vec::new(),
            bodies: Bodies::new(types.is_mysql),
            broken: Vec::new(),
            virtual_tables: Vec::new(),
            left_out: Vec::new(),
            types,
        }
    }

    fn read(&mut self, part: &Part<'t>) -> Result<(), String> {
        self.virtual_tables.extend(created(part.text));
        let Some(kind) = Kind::of(part.text) else { return Ok(()) };
        if let Some(partition) = partitions::attached(part.text) {
            let key = partitions::key(part.text);
            self.keys.extend(key.map(|(_, way, column)| (partition.name.clone(), (way, column))));
            self.partitions.push(partition);
            return Ok(());
        }
        if kind == Kind::Table {
            return self.read_table(part);
        }
        self.bodies.add_type(part.text);
        self.types.ranges.extend(range(part.text));
        let simple = with_simple_identities(part.text);
        let text = simple.as_deref().unwrap_or(part.text);
        match parsed(rewritten(text).as_deref().unwrap_or(text)) {
            Ok(statement) => self.read.push(statement),
            Err(_) => self.broken.extend(unread(text)),
        }
        Ok(())
    }

    fn read_table(&mut self, part: &Part<'t>) -> Result<(), String> {
        let at = |error: String| format!("the table at line {}: {error}", part.line);
        let divided = partitions::key(part.text);
        let whole = divided.as_ref().map_or(part.text, |(text, ..)| *text);
        let simple = with_simple_identities(whole);
        let whole = simple.as_deref().unwrap_or(whole);
        let expanded = self.bodies.expanded(whole).map_err(at)?;
        let (whole, merged) = match &expanded {
            Some(expanded) => (expanded.statement.as_str(), expanded.merged.as_slice()),
            None => (whole, &[][..]),
        };
        let (mut table, mut others) = match understood(whole, &self.bodies) {
            Ok((Statement::CreateTable(table), others)) => (table, others),
            Ok(_) => return Ok(()),
            Err(error) => {
                self.left_out.push(at(error));
                return Ok(());
            }
        };
        let name = full(&table.name, self.types.is_folded);
        others.extend(merge(&mut table, merged));
        self.bodies.add(&name, whole, merged);
        self.broken.extend(others.into_iter().map(|other| (name.clone(), other)));
        if let Some((_, way, column)) = divided {
            self.keys.push((name, (way, column)));
        }
        self.read.push(Statement::CreateTable(table));
        Ok(())
    }
}

/// Adds the constraints from additional definitions of a table's columns. Returns the definitions
/// that aren't valid in any dialect.
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
                if let Some(table) = named(&mut tables, &full(name, types.is_folded)) {
                    operations.iter().for_each(|operation| alter(table, operation, types));
                }
            }
            Statement::Drop { object_type: ObjectType::Table, names, .. } => {
                for name in names.iter().map(|name| full(name, types.is_folded)) {
                    tables.retain(|table| !table.name.eq_ignore_ascii_case(&name));
                }
            }
            // If all rows are unique, this also satisfies a partial index.
            Statement::CreateIndex(index) if index.unique => {
                let name = full(&index.table_name, types.is_folded);
                if let Some(table) = named(&mut tables, &name) {
                    let columns = key(table, &index.columns);
                    add_unique(table, columns, index.nulls_distinct != Some(false));
                }
            }
            _ => {}
        }
    }
    tables
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

/// Parses a `CREATE TABLE` statement. If that fails, leaves out the table options and any columns
/// and constraints that aren't valid in any dialect. Also returns those columns and constraints.
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

fn existing(table: &CreateTable, types: &Types) -> Existing {
    let mut made = Existing::new(full(&table.name, types.is_folded), Vec::new());
    if last(&table.name).contains('.') {
        made.broken
            .push("the dot in its name, which SQL output takes for that after a schema".to_owned());
    }
    for definition in &table.columns {
        let Ident { value, quote_style, .. } = &definition.name;
        // If the file doesn't contain the table to copy, `LIKE` looks like a column name.
        if quote_style.is_none() && value.eq_ignore_ascii_case("LIKE") {
            made.broken.push(definition.to_string());
            continue;
        }
        if is_index(definition, &table.columns) {
            continue;
        }
        add(&mut made, definition, types);
        // SQLite's strict tables don't accept strings in blob columns.
        if table.strict
            && matches!(definition.data_type, DataType::Blob(_))
            && let Some(column) = made.columns.last_mut()
        {
            column.stored = Stored::Known(json!({"type": "constant", "value": null}));
        }
    }
    for constraint in &table.constraints {
        constrain(&mut made, constraint, types);
    }
    made
}

/// Returns whether a definition is a MySQL index, such as `INDEX name (column, other)`. In other
/// dialects, it looks like a column whose type has this name.
fn is_index(definition: &ColumnDef, columns: &[ColumnDef]) -> bool {
    let Ident { value, quote_style, .. } = &definition.name;
    let DataType::Custom(_, parts) = &definition.data_type else { return false };
    let mut words = ["INDEX", "KEY", "FULLTEXT", "SPATIAL"].iter();
    let is_part = |part: &String| {
        let mut names = columns.iter().map(|own| own.name.value.as_str()).chain(["ASC", "DESC"]);
        names.any(|name| name.eq_ignore_ascii_case(part))
    };
    quote_style.is_none()
        && words.any(|word| value.eq_ignore_ascii_case(word))
        && !parts.is_empty()
        && parts.iter().all(is_part)
}

/// Adds a column, unless it is computed by the database.
fn add(table: &mut Existing, definition: &ColumnDef, types: &Types) {
    if is_computed(definition) {
        for option in definition.options.iter().map(|option| &option.option) {
            if let ColumnOption::Unique { .. }
            | ColumnOption::Check(_)
            | ColumnOption::ForeignKey { .. } = option
            {
                table.broken.push(format!("{option} of {}", definition.name.value));
            }
        }
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
    // A domain's checks apply to the column.
    let domain = types.domains.get(&own);
    if let Some((_, checks)) = domain {
        table.checks.extend(checks.iter().map(|check| (check.clone(), Some(name.clone()))));
    }
    let base = domain.map_or(own, |(base, _)| own_name(base));
    if types.composites.contains(&base) {
        table.broken.push(format!("the composite type {base} of {name}"));
    } else if !types.labels.contains_key(&base) && !types.ranges.contains(&base) {
        let kind = domain.map_or(&definition.data_type, |(kind, _)| kind);
        if is_unknown(kind, types.is_mysql) {
            table.broken.push(format!("the type {base} of {name}"));
        }
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

fn constrain(table: &mut Existing, constraint: &TableConstraint, types: &Types) {
    match constraint {
        TableConstraint::PrimaryKey { columns, .. } => table.key = key(table, columns),
        TableConstraint::Unique { columns, nulls_distinct, .. } => {
            let columns = key(table, columns);
            let are_nulls_distinct = *nulls_distinct != NullsDistinctOption::NotDistinct;
            add_unique(table, columns, are_nulls_distinct);
        }
        TableConstraint::ForeignKey { columns, foreign_table, referred_columns, .. } => {
            let texts = |columns: &[Ident]| columns.iter().map(|own| own.value.clone()).collect();
            table.references.push(Reference {
                columns: texts(columns),
                table: full(foreign_table, types.is_folded),
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
        AlterTableOperation::AddConstraint { constraint, .. } => {
            constrain(table, constraint, types)
        }
        AlterTableOperation::AlterColumn {
            column_name,
            op: AlterColumnOperation::AddGenerated { generated_as, sequence_options },
        } => {
            if let Some(column) = table.find(&column_name.value)
                && *generated_as == Some(GeneratedAs::Always)
            {
                column.number_by_database(numbering(sequence_options.as_deref()));
            }
        }
        _ => {}
    }
}

fn column(definition: &ColumnDef, types: &Types) -> Column {
    let own = own_name(&definition.data_type);
    let kind = types.domains.get(&own).map_or(&definition.data_type, |(base, _)| base);
    let (stored, limit) = stored(kind, types.is_mysql);
    let name = spelled(&definition.name, types.is_folded);
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
    if types.ranges.contains(&own_name(kind)) {
        column.stored = Stored::Known(json!({"type": "constant", "value": "empty"}));
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
                let table = full(foreign_table, types.is_folded);
                column.refers = Some((table, target.unwrap_or_default()));
            }
            ColumnOption::Identity(_) => column.required = true,
            ColumnOption::Generated {
                generated_as,
                sequence_options,
                generation_expr: None,
                ..
            } => {
                column.required = true;
                if *generated_as == GeneratedAs::Always {
                    column.number_by_database(numbering(sequence_options.as_deref()));
                }
            }
            _ => {}
        }
    }
    column
}

/// Returns the first number and the step of an identity column.
fn numbering(options: Option<&[SequenceOptions]>) -> (i64, i64) {
    let mut numbering = (1, 1);
    for option in options.unwrap_or_default() {
        let (number, given) = match option {
            SequenceOptions::StartWith(given, _) => (&mut numbering.0, given),
            SequenceOptions::IncrementBy(given, _) => (&mut numbering.1, given),
            _ => continue,
        };
        *number = given.to_string().parse().unwrap_or(*number);
    }
    numbering
}
