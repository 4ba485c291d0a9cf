//! Statements put together at run time: text with numbers written in and texts bound.

use ::store::{Backend, Db, MultiBackend, StoreError};
use diesel::prelude::*;
use diesel::query_builder::{BoxedSqlQuery, SqlQuery};
use diesel::sql_types::{BigInt, Text};

/// A statement under construction; only numbers are written into its text.
pub struct Sql {
    text: String,
    texts: Vec<String>,
    backend: Backend,
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
    /// Begins a statement.
    pub fn new(db: &Db, text: &str) -> Sql {
        Sql { text: text.to_owned(), texts: Vec::new(), backend: db.backend() }
    }

    /// Returns the kind of database that the statement is for.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Returns what was appended so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Appends SQL.
    pub fn push(&mut self, text: &str) -> &mut Sql {
        self.text.push_str(text);
        self
    }

    /// Appends a text as a bound parameter.
    pub fn bind(&mut self, value: impl Into<String>) -> &mut Sql {
        self.texts.push(value.into());
        self.text.push_str(&format!("${}", self.texts.len()));
        self
    }

    /// Appends `(1, 2, 3)`; an empty list becomes one that nothing is in.
    pub fn ids(&mut self, ids: &[i64]) -> &mut Sql {
        let list: Vec<String> = ids.iter().map(i64::to_string).collect();
        self.text.push('(');
        self.text.push_str(if list.is_empty() { "-1" } else { "" });
        self.text.push_str(&list.join(","));
        self.text.push(')');
        self
    }

    /// Appends `any(…)` with bound ids, which PostgreSQL reads faster than a list when there are
    /// thousands; SQLite has no such thing.
    pub fn any(&mut self, ids: &[i64]) -> &mut Sql {
        let list: Vec<String> = ids.iter().map(i64::to_string).collect();
        self.push("any(cast(").bind(format!("{{{}}}", list.join(","))).push(" as bigint[]))")
    }

    /// Appends `($1, $2)` with bound texts; an empty list becomes one that nothing is in.
    pub fn texts<'a>(&mut self, values: impl IntoIterator<Item = &'a str>) -> &mut Sql {
        self.push("(");
        let before = self.texts.len();
        for value in values {
            if self.texts.len() > before {
                self.push(",");
            }
            self.bind(value);
        }
        if self.texts.len() == before {
            self.push("null");
        }
        self.push(")")
    }

    /// Appends `column like '%needle%'`, the needle taken literally.
    pub fn contains(&mut self, column: &str, needle: &str) -> &mut Sql {
        self.push(column).push(" like ").bind(store::contains_pattern(needle));
        // PostgreSQL escapes with a backslash by itself, and uses its index only without the clause.
        if self.backend == Backend::Sqlite {
            self.push(" escape '\\'");
        }
        self
    }

    /// Appends another statement, renumbering its parameters.
    pub fn append(&mut self, other: &Sql) -> &mut Sql {
        let mut rest = other.text.as_str();
        while let Some(at) = rest.find('$') {
            self.text.push_str(&rest[..at]);
            let digits = rest[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
            let number: usize = rest[at + 1..=at + digits].parse().unwrap_or(0);
            if let Some(value) = number.checked_sub(1).and_then(|index| other.texts.get(index)) {
                self.bind(value.clone());
            }
            rest = &rest[at + 1 + digits..];
        }
        self.push(rest)
    }

    fn query(self) -> BoxedSqlQuery<'static, MultiBackend, SqlQuery> {
        let mut query = diesel::sql_query(self.text).into_boxed::<MultiBackend>();
        for text in self.texts {
            query = query.bind::<Text, _>(text);
        }
        query
    }

    /// Runs the statement and reads the column `id` of every row.
    pub fn load_ids(self, db: &mut Db) -> Result<Vec<i64>, StoreError> {
        Ok(self.query().load::<IdRow>(db)?.into_iter().map(|row| row.id).collect())
    }

    /// Runs the statement and reads the column `n` of its only row.
    pub fn number(self, db: &mut Db) -> Result<i64, StoreError> {
        Ok(self.query().get_result::<NumberRow>(db)?.n)
    }

    /// Runs the statement and reads its rows by column name.
    pub fn load<T>(self, db: &mut Db) -> Result<Vec<T>, StoreError>
    where
        T: QueryableByName<MultiBackend> + 'static,
    {
        Ok(self.query().load::<T>(db)?)
    }

    /// Runs the statement and returns the number of changed rows.
    pub fn execute(self, db: &mut Db) -> Result<usize, StoreError> {
        Ok(self.query().execute(db)?)
    }

    /// Turns the statement into one that explains its plan.
    pub fn explained(mut self) -> Sql {
        let word = if self.backend == Backend::Sqlite { "explain query plan " } else { "explain " };
        self.text.insert_str(0, word);
        self
    }
}

/// Makes sure that one writer works at a time, on PostgreSQL as SQLite has it by itself.
pub fn one_writer(db: &mut Db) -> Result<(), StoreError> {
    if let Db::Pg(conn) = db {
        diesel::sql_query("select pg_advisory_xact_lock(7301)").execute(conn)?;
    }
    Ok(())
}
