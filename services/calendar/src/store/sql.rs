//! SQL statements built at run time. Numbers are inlined and strings are bound.

use database::{Backend, DatabaseError, Db, MultiBackend};
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, BoxedSqlQuery, Query, QueryFragment, QueryId, SqlQuery};
use diesel::sql_types::{BigInt, Text, Untyped};

/// An SQL statement under construction. Only numbers are inlined.
pub struct Sql {
    text: String,
    /// Bound values and their positions in the text.
    values: Vec<(usize, Bound)>,
    backend: Backend,
    is_prepared: bool,
}

enum Bound {
    Text(String),
    Number(i64),
}

/// Maximum number of strings in a statement's lists, because databases limit the number of bound
/// values.
pub const TEXTS: usize = 500;

/// A row from a statement that selects `id` and `text`.
#[derive(QueryableByName)]
pub struct TextRow {
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    #[diesel(sql_type = Text)]
    pub text: String,
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

#[derive(QueryableByName)]
struct NumberRow {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

impl Sql {
    /// Starts a statement.
    pub fn new(db: &Db, text: &str) -> Sql {
        let backend = db.backend();
        Sql { text: text.to_owned(), values: Vec::new(), backend, is_prepared: false }
    }

    /// Starts a statement that each connection prepares once and caches, with its numbers bound.
    /// Only use this for statements with few variants.
    pub fn prepared(db: &Db, text: &str) -> Sql {
        Sql { is_prepared: true, ..Sql::new(db, text) }
    }

    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Appends raw SQL.
    pub fn push(&mut self, text: &str) -> &mut Sql {
        self.text.push_str(text);
        self
    }

    /// Appends a string as a bound parameter.
    pub fn bind(&mut self, value: impl Into<String>) -> &mut Sql {
        self.values.push((self.text.len(), Bound::Text(value.into())));
        self
    }

    /// Appends an integer.
    pub fn value(&mut self, number: i64) -> &mut Sql {
        if self.is_prepared {
            self.values.push((self.text.len(), Bound::Number(number)));
            return self;
        }
        self.push(&number.to_string())
    }

    /// Appends a list such as `(1, 2, 3)`. If `ids` is empty, appends a list that doesn't match
    /// anything.
    pub fn ids(&mut self, ids: &[i64]) -> &mut Sql {
        self.push("(").push(if ids.is_empty() { "-1" } else { "" }).push(&joined(ids)).push(")")
    }

    /// Appends rows of integers, such as `(1, 2), (3, 4)`.
    pub fn rows<const COLUMNS: usize>(mut self, rows: &[[i64; COLUMNS]]) -> Sql {
        for (at, row) in rows.iter().enumerate() {
            let separator = if at == 0 { "(" } else { ", (" };
            self.push(separator).push(&joined(row)).push(")");
        }
        self
    }

    /// Appends a condition such as `in (1, 2, 3)`.
    pub fn among(&mut self, ids: &[i64]) -> &mut Sql {
        self.push("in ").ids(ids)
    }

    /// Appends a list such as `($1, $2)` and binds the strings. If there are none, appends a list
    /// that doesn't match anything.
    pub fn texts<'a>(&mut self, values: impl IntoIterator<Item = &'a str>) -> &mut Sql {
        self.push("(");
        let before = self.values.len();
        for value in values {
            if self.values.len() > before {
                self.push(",");
            }
            self.bind(value);
        }
        if self.values.len() == before {
            self.push("null");
        }
        self.push(")")
    }

    /// Appends `column like '%needle%'`, escaping the needle so that it is matched literally.
    pub fn contains(&mut self, column: &str, needle: &str) -> &mut Sql {
        self.push(column).push(" like ").bind(database::contains_pattern(needle));
        // PostgreSQL escapes with a backslash by default, and an ESCAPE clause would prevent it
        // from using the index.
        if self.backend == Backend::Sqlite {
            self.push(" escape '\\'");
        }
        self
    }

    /// Appends a string column to sort by. The order is by code point, as in Rust, regardless of a
    /// PostgreSQL database's collation.
    pub fn sorted(&mut self, column: &str) -> &mut Sql {
        let order = if self.backend == Backend::Postgres { " collate \"C\"" } else { "" };
        self.push(column).push(order)
    }

    /// Splits the text at the bound values. Returns each piece with the value that follows it, if
    /// any.
    fn pieces(&self) -> impl Iterator<Item = (&str, Option<&Bound>)> {
        let ends = self.values.iter().map(|(at, value)| (*at, Some(value)));
        ends.chain([(self.text.len(), None)]).scan(0, |begin, (end, value)| {
            let piece = self.text.get(*begin..end).unwrap_or_default();
            *begin = end;
            Some((piece, value))
        })
    }

    fn query(self) -> BoxedSqlQuery<'static, MultiBackend, SqlQuery> {
        let mut text = String::with_capacity(self.text.len() + 4 * self.values.len());
        for (number, (piece, value)) in (1..).zip(self.pieces()) {
            text.push_str(piece);
            if value.is_some() {
                text.push_str(&format!("${number}"));
            }
        }
        let mut query = diesel::sql_query(text).into_boxed::<MultiBackend>();
        for (_, value) in self.values {
            query = match value {
                Bound::Text(text) => query.bind::<Text, _>(text),
                Bound::Number(number) => query.bind::<BigInt, _>(number),
            };
        }
        query
    }

    /// Runs the statement and returns the `id` column.
    pub fn load_ids(self, db: &mut Db) -> Result<Vec<i64>, DatabaseError> {
        Ok(self.load::<IdRow>(db)?.into_iter().map(|row| row.id).collect())
    }

    /// Runs the statement and returns column `n` of the only row.
    pub fn number(self, db: &mut Db) -> Result<i64, DatabaseError> {
        let row = self.load::<NumberRow>(db)?.pop();
        Ok(row.ok_or(DatabaseError::NotFound)?.n)
    }

    /// Runs the statement and loads the rows by column name.
    pub fn load<T>(self, db: &mut Db) -> Result<Vec<T>, DatabaseError>
    where
        T: QueryableByName<MultiBackend> + 'static,
    {
        Ok(match self.is_prepared {
            true => Prepared(self).load::<T>(db)?,
            false => self.query().load::<T>(db)?,
        })
    }

    /// Runs the statement and returns the number of affected rows.
    pub fn execute(self, db: &mut Db) -> Result<usize, DatabaseError> {
        Ok(match self.is_prepared {
            true => Prepared(self).execute(db)?,
            false => self.query().execute(db)?,
        })
    }

    /// Converts the statement to one that explains its query plan.
    pub fn explained(mut self) -> Sql {
        let word = if self.backend == Backend::Sqlite { "explain query plan " } else { "explain " };
        self.text.insert_str(0, word);
        for (at, _) in &mut self.values {
            *at += word.len();
        }
        self
    }
}

/// A statement that connections cache by its text.
struct Prepared(Sql);

impl QueryId for Prepared {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Prepared {
    type SqlType = Untyped;
}

impl QueryFragment<MultiBackend> for Prepared {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        for (piece, value) in self.0.pieces() {
            out.push_sql(piece);
            match value {
                Some(Bound::Text(text)) => out.push_bind_param::<Text, _>(text)?,
                Some(Bound::Number(number)) => out.push_bind_param::<BigInt, _>(number)?,
                None => {}
            }
        }
        Ok(())
    }
}

impl RunQueryDsl<Db> for Prepared {}

fn joined(ids: &[i64]) -> String {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    ids.join(",")
}

/// Length of the indexed prefix of names, in characters. A whole name could exceed the maximum key
/// size.
const HEAD: usize = 200;

/// Returns the expression that name indexes are built on.
pub fn head_of_names() -> SqlLiteral<Text> {
    sql("substr(name_ci, 1, 200)")
}

/// Returns the prefix of a case-folded name, for comparison with [`head_of_names`].
pub fn head(name: &str) -> String {
    name.chars().take(HEAD).collect()
}

/// Blocks other writers until the end of the transaction. On PostgreSQL this takes a lock. SQLite
/// only allows one writer anyway.
pub fn one_writer(db: &mut Db) -> Result<(), DatabaseError> {
    if let Db::Pg(conn) = db {
        diesel::sql_query("select pg_advisory_xact_lock(7301)").execute(conn)?;
    }
    Ok(())
}

/// Disables the idle timeout for the current transaction on PostgreSQL, because the client might be
/// slow to write its output.
pub fn without_idle_timeout(db: &mut Db) -> Result<(), DatabaseError> {
    if let Db::Pg(conn) = db {
        diesel::sql_query("set local idle_in_transaction_session_timeout = 0").execute(conn)?;
    }
    Ok(())
}

/// Returns a random 32-character id.
pub fn random_id(db: &mut Db) -> Result<String, DatabaseError> {
    let text = match db {
        Db::Sqlite(_) => "select 0 as id, lower(hex(randomblob(16))) as text",
        Db::Pg(_) => "select 0::bigint as id, replace(gen_random_uuid()::text, '-', '') as text",
    };
    let rows: Vec<TextRow> = Sql::new(db, text).load(db)?;
    let row = rows.into_iter().next().ok_or(DatabaseError::NotFound)?;
    Ok(row.text)
}
