//! Row types for exported tables.

use database::{DatabaseError, Db};

/// Number of rows to read per query. A row can contain a megabyte of text.
pub const ROWS: i64 = 50;

/// A row in an exported table.
pub trait Carried: Sized {
    /// Returns the next rows after `after`, or the first ones, in key order.
    fn page(db: &mut Db, after: Option<&Self>) -> Result<Vec<Self>, DatabaseError>;

    fn insert(db: &mut Db, rows: &[&Self]) -> Result<(), DatabaseError>;
}

/// Defines a table's row type. The key has one or two columns.
macro_rules! carried {
    ($row:ident in $table:ident by $key:tt { $($(#[$attribute:meta])* $field:ident: $type:ty),+ $(,)? }) => {
        #[derive(Debug, Serialize, Deserialize, Queryable, Selectable, Insertable)]
        #[serde(deny_unknown_fields)]
        #[diesel(table_name = $table, treat_none_as_default_value = false)]
        pub struct $row {
            $($(#[$attribute])* $field: $type),+
        }

        impl Carried for $row {
            fn page(db: &mut Db, after: Option<&Self>) -> Result<Vec<Self>, DatabaseError> {
                let rows = on_backend!(db, conn => {
                    let all = $table::table.select(Self::as_select()).limit(ROWS);
                    match after {
                        None => carried!(@order all, $table, $key).load(conn)?,
                        Some(row) => carried!(@order all, $table, $key)
                            .filter(carried!(@after row, $table, $key))
                            .load(conn)?,
                    }
                });
                Ok(rows)
            }

            fn insert(db: &mut Db, rows: &[&Self]) -> Result<(), DatabaseError> {
                let rows: Vec<&Self> = rows.to_vec();
                on_backend!(db, conn => {
                    diesel::insert_into($table::table).values(rows).execute(conn)?;
                });
                Ok(())
            }
        }
    };
    (@order $all:ident, $table:ident, ($key:ident)) => { $all.order($table::$key) };
    (@order $all:ident, $table:ident, ($first:ident, $second:ident)) => {
        $all.order(($table::$first, $table::$second))
    };
    (@after $row:ident, $table:ident, ($key:ident)) => { $table::$key.gt(&$row.$key) };
    (@after $row:ident, $table:ident, ($first:ident, $second:ident)) => {
        $table::$first
            .gt(&$row.$first)
            .or($table::$first.eq(&$row.$first).and($table::$second.gt(&$row.$second)))
    };
}

pub(super) use carried;
