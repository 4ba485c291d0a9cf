//! Reads existing tables from their definitions in SQL.

use serde_json::json;
use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, ColumnDef, ColumnOption, CreateTable, DataType,
    GeneratedAs, Ident, TableConstraint,
};

use super::column::{Column, Stored};
use super::defined::{Types, last, own_name};
use super::existing::{Existing, Reference};
use super::keys::key;
use super::qualified::{full, spelled};
use super::types::{is_unknown, stored};

/// Converts a `CREATE TABLE` statement.
pub fn existing(table: &CreateTable, types: &Types) -> Existing {
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
        TableConstraint::Unique { columns, .. } => {
            let columns = key(table, columns);
            table.unique.push(columns);
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

/// Applies an operation of an `ALTER TABLE` statement.
pub fn alter(table: &mut Existing, operation: &AlterTableOperation, types: &Types) {
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
            op: AlterColumnOperation::AddGenerated { generated_as, .. },
        } => {
            if let Some(column) = table.find(&column_name.value) {
                column.is_hidden = *generated_as == Some(GeneratedAs::Always);
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
            ColumnOption::Generated { generated_as, generation_expr: None, .. } => {
                column.required = true;
                column.is_hidden = *generated_as == GeneratedAs::Always;
            }
            _ => {}
        }
    }
    column
}
