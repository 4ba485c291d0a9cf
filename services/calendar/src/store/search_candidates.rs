//! The vocabulary of all events, by which PostgreSQL finds the few that a search can mean.
//!
//! A text index over events would have to read its long lists for the parts that most events have
//! in common (docs/decisions/0708); the vocabulary is small, so the parts of a word are looked for
//! there, and events by whole words. SQLite has a text index that needs none of this.

use database::{Backend, DatabaseError, Db, contains_pattern};
use diesel::sql_types::Text;

use super::sql::Sql;
use crate::model::search::Words;

/// The longest part that lies in one word for certain: longer words are stored in pieces.
const PART_CHARACTERS: usize = 100;

/// The shortest part that the index of the vocabulary knows.
const INDEXED_CHARACTERS: usize = 3;

/// With more words than this behind a part, or more events behind the words, a search goes through
/// the events themselves.
const MOST_WORDS: usize = 500;
const MOST_EVENTS: usize = 10_000;

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    word: String,
}

/// Finds the events that may hold the wanted words, and all that do; `None` when they are too many
/// or unknown.
pub fn candidates(db: &mut Db, words: &Words) -> Result<Option<Vec<i64>>, DatabaseError> {
    if db.backend() == Backend::Sqlite {
        return Ok(None);
    }
    let mut lists = Vec::new();
    for part in words.wanted.iter().filter_map(|wanted| longest_part(wanted)) {
        lists.extend(words_with(db, &part)?);
    }
    if lists.is_empty() {
        return Ok(None);
    }
    let ids = candidates_statement(db, &lists).load_ids(db)?;
    Ok((ids.len() <= MOST_EVENTS).then_some(ids))
}

/// Builds the statement that reads the events with one word of each list, the words of a list
/// parted by blanks; a test asks for its plan.
pub fn candidates_statement(db: &Db, lists: &[String]) -> Sql {
    let mut sql = Sql::new(db, "select id from events where ");
    for (at, list) in lists.iter().enumerate() {
        sql.push(if at == 0 { "" } else { " and " });
        sql.push("search_words(search_ci) && string_to_array(").bind(list).push(", ' ')");
    }
    sql.push(&format!(" limit {}", MOST_EVENTS + 1));
    sql
}

/// Returns the words that hold a part, parted by blanks; `None` when they are too many.
fn words_with(db: &mut Db, part: &str) -> Result<Option<String>, DatabaseError> {
    let mut sql = Sql::new(db, "select word from search_vocabulary where word like ");
    sql.bind(contains_pattern(part)).push(&format!(" limit {}", MOST_WORDS + 1));
    let rows: Vec<Row> = sql.load(db)?;
    let words: Vec<String> = rows.into_iter().map(|row| row.word).collect();
    Ok((words.len() <= MOST_WORDS).then(|| words.join(" ")))
}

/// Returns the longest part of a wanted text that lies between blanks, or its beginning.
fn longest_part(wanted: &str) -> Option<String> {
    wanted
        .split_whitespace()
        .map(|part| part.chars().take(PART_CHARACTERS).collect::<String>())
        .max_by_key(|part| part.chars().count())
        .filter(|part| part.chars().count() >= INDEXED_CHARACTERS)
}
