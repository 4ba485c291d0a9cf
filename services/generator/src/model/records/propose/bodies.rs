//! Splits the bodies of `CREATE TABLE` statements into columns and constraints. This is how we
//! handle syntax that the SQL parser doesn't support: copies of other tables, and unusual columns
//! and constraints.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::qualified::of_text;
use super::statements::{begins, comment, quoted};

/// Maximum number of characters of an item to quote in a message.
const QUOTED: usize = 80;
/// Maximum total size in bytes of the columns and constraints that the tables in a file copy from
/// each other. Without a limit, chains of copies could grow exponentially.
const MOST: usize = 64 << 20;

/// The columns and constraints of the tables in a file, by lower-case table name.
pub struct Bodies {
    bodies: HashMap<String, Body>,
    /// The attributes of composite types.
    types: HashMap<String, Body>,
    is_mysql: bool,
    /// Number of bytes copied so far.
    taken: Cell<usize>,
}

struct Body {
    items: Vec<String>,
    /// Additional definitions of columns that `items` already contains.
    merged: Vec<String>,
    /// Length of `items` and `merged` in bytes.
    size: usize,
}

/// A statement that includes the columns and constraints copied from other tables.
pub struct Expanded {
    pub statement: String,
    /// Additional definitions of columns that are already in `statement`. Their constraints apply
    /// as well.
    pub merged: Vec<String>,
}

/// A statement that is split at the commas in its body.
struct Split<'a> {
    before: &'a str,
    items: Vec<&'a str>,
    after: &'a str,
}

impl Bodies {
    pub fn new(is_mysql: bool) -> Self {
        Self { bodies: HashMap::new(), types: HashMap::new(), is_mysql, taken: Cell::new(0) }
    }

    /// Stores the attributes of a composite type, if the statement creates one.
    pub fn add_type(&mut self, statement: &str) {
        let Some(split) = self.split(statement) else { return };
        let words: Vec<_> = split.before.split_whitespace().collect();
        let [_, kind, name, word] = words[..] else { return };
        if kind.eq_ignore_ascii_case("TYPE") && word.eq_ignore_ascii_case("AS") {
            let items: Vec<_> = split.items.into_iter().map(str::to_owned).collect();
            let size = items.iter().map(|item| item.len() + 1).sum();
            let body = Body { items, merged: Vec::new(), size };
            self.types.insert(of_text(name).to_lowercase(), body);
        }
    }

    /// Stores the columns and constraints of a table.
    pub fn add(&mut self, name: &str, statement: &str, merged: &[String]) {
        if let Some(split) = self.split(statement) {
            let items: Vec<_> = split.items.into_iter().map(str::to_owned).collect();
            let merged = merged.to_vec();
            let size = items.iter().chain(&merged).map(|item| item.len() + 1).sum();
            self.bodies.insert(name.to_lowercase(), Body { items, merged, size });
        }
    }

    /// Returns a statement that includes the columns and constraints copied from other tables with
    /// `LIKE` or `INHERITS`, or from a composite type with `OF`. Returns `None` if there aren't
    /// any.
    ///
    /// Columns with the same name are merged, as in PostgreSQL. We also copy some constraints that
    /// the database wouldn't, which does no harm: the rows just have to meet stricter conditions.
    ///
    /// # Errors
    /// Returns an error if the tables in the file copy too much from each other.
    pub fn expanded(&self, statement: &str) -> Result<Option<Expanded>, String> {
        if let Some((source, typed)) = self.typed(statement) {
            self.take(source)?;
            return Ok(Some(typed));
        }
        let Some(split) = self.split(statement) else {
            // In MySQL, `LIKE` isn't in parentheses.
            let words: Vec<_> = statement.split_whitespace().collect();
            let like = words.iter().position(|word| word.eq_ignore_ascii_case("LIKE"));
            let source = like.and_then(|at| Some((at, self.named(words.get(at + 1)?)?)));
            let Some((at, source)) = source else { return Ok(None) };
            self.take(source)?;
            let statement = format!("{} ({})", words[..at].join(" "), source.items.join(","));
            return Ok(Some(Expanded { statement, merged: source.merged.clone() }));
        };
        let (mut own, mut sources) = (Vec::new(), Vec::new());
        for item in split.items {
            match self.source(item) {
                Some(source) => sources.push(source),
                None if item.trim().is_empty() => {}
                None => own.push(item),
            }
        }
        let inherits = split.after.to_ascii_uppercase().find("INHERITS");
        let parents = inherits.and_then(|at| split.after.get(at..)?.split(['(', ')']).nth(1));
        let parents = parents.into_iter().flat_map(|names| names.split(','));
        sources.extend(parents.filter_map(|name| self.named(name.trim())));
        if sources.is_empty() {
            return Ok(None);
        }
        sources.iter().try_for_each(|source| self.take(source))?;
        let mut names: HashSet<_> = own.iter().filter_map(|item| self.column(item)).collect();
        let mut known: HashSet<_> = own.iter().map(|item| one_line(item)).collect();
        let (mut all, mut merged) = (Vec::new(), Vec::new());
        for source in sources {
            for item in source.items.iter().filter(|item| !item.trim().is_empty()) {
                if !known.insert(one_line(item)) {
                    continue;
                }
                match self.column(item).is_none_or(|name| names.insert(name)) {
                    true => all.push(item.as_str()),
                    false => merged.push(item.clone()),
                }
            }
            let more = source.merged.iter().filter(|item| known.insert(one_line(item)));
            merged.extend(more.cloned());
        }
        all.extend(own);
        let statement = format!("{}({}){}", split.before, all.join(","), split.after);
        Ok(Some(Expanded { statement, merged }))
    }

    /// Expands `CREATE TABLE … OF type`. Also returns the type.
    fn typed(&self, statement: &str) -> Option<(&Body, Expanded)> {
        let split = self.split(statement);
        let head = split.as_ref().map_or(statement, |split| split.before);
        let words: Vec<_> = head.split_whitespace().collect();
        let [start @ .., of, kind] = words.as_slice() else { return None };
        let kind = of.eq_ignore_ascii_case("OF").then(|| of_text(kind).to_lowercase())?;
        let source = self.types.get(&kind)?;
        let (mut all, mut merged) = (source.items.clone(), Vec::new());
        for item in split.map(|split| split.items).unwrap_or_default() {
            match self.column(item) {
                // The item only adds constraints to the column, so any type will do.
                Some(_) => {
                    let item = bare(item, self.is_mysql);
                    let (name, rest) = item.split_once(char::is_whitespace)?;
                    let is_long = begins(rest.trim_start(), "WITH");
                    let words = rest.split_whitespace().skip(if is_long { 2 } else { 0 });
                    merged.push(format!("{name} int {}", words.collect::<Vec<_>>().join(" ")));
                }
                None if item.trim().is_empty() => {}
                None => all.push(item.to_owned()),
            }
        }
        let statement = format!("{} ({})", start.join(" "), all.join(","));
        Some((source, Expanded { statement, merged }))
    }

    /// Counts the size of a copied table body towards the limit.
    fn take(&self, source: &Body) -> Result<(), String> {
        self.taken.set(self.taken.get().saturating_add(source.size));
        match self.taken.get() <= MOST {
            true => Ok(()),
            false => Err(format!(
                "the tables take more than {} MiB of columns and constraints from each other",
                MOST >> 20
            )),
        }
    }

    /// Returns the table to copy if an item is `LIKE table`.
    fn source(&self, item: &str) -> Option<&Body> {
        let mut words = bare(item, self.is_mysql).split_whitespace();
        let is_like = words.next()?.eq_ignore_ascii_case("LIKE");
        words.next().filter(|_| is_like).and_then(|name| self.named(name))
    }

    /// Returns the lower-case name of a column, or `None` if the item is a constraint.
    fn column(&self, item: &str) -> Option<String> {
        let item = bare(item, self.is_mysql);
        if let Some(quote @ ('"' | '`' | '[')) = item.chars().next() {
            let quote = if quote == '[' { ']' } else { quote };
            return item[1..].split(quote).next().map(str::to_lowercase);
        }
        let name = item.split(|letter: char| letter.is_whitespace() || letter == '(').next()?;
        let rest = item[name.len()..].trim_start();
        let name = name.to_lowercase();
        let is_constraint = match name.as_str() {
            "constraint" | "check" | "unique" | "primary" | "foreign" | "like" => true,
            "key" | "index" | "fulltext" | "spatial" => self.is_mysql,
            "exclude" => rest.starts_with('(') || rest.to_lowercase().starts_with("using"),
            _ => false,
        };
        (!is_constraint && !name.is_empty()).then_some(name)
    }

    /// Returns a `CREATE TABLE` statement without its options and without the columns and
    /// constraints that `is_known` rejects. Also returns the rejected ones.
    pub fn understood(
        &self,
        statement: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Option<(String, Vec<String>)> {
        let Split { before, items, .. } = self.split(statement)?;
        let name = &before[before.to_ascii_uppercase().find("TABLE")?..];
        let is_known = |item: &&str| is_known(&format!("CREATE TABLE t ({item})"));
        let (known, others): (Vec<_>, Vec<_>) = items.into_iter().partition(is_known);
        if known.is_empty() {
            return None;
        }
        let others = others.into_iter().map(shortened).collect();
        Some((format!("CREATE {name}({})", known.join(",")), others))
    }

    fn named(&self, name: &str) -> Option<&Body> {
        let name = of_text(name).to_lowercase();
        let is_end = |own: &&String| own.rsplit_once('.').is_some_and(|(_, own)| own == name);
        let other = || self.bodies.get(self.bodies.keys().filter(is_end).min()?);
        self.bodies.get(&name).or_else(other)
    }

    fn split<'s>(&self, text: &'s str) -> Option<Split<'s>> {
        let (mut at, mut depth, mut begins) = (0, 0_usize, 0);
        let (mut before, mut items) = ("", Vec::new());
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            if let Some(length) = comment(rest, self.is_mysql) {
                at += length;
                continue;
            }
            let first = rest.chars().next()?;
            match first {
                '(' => {
                    depth += 1;
                    if depth == 1 {
                        (before, begins) = (&text[..at], at + 1);
                    }
                }
                ')' if depth == 1 => {
                    items.push(&text[begins..at]);
                    return Some(Split { before, items, after: &text[at + 1..] });
                }
                ')' => depth = depth.saturating_sub(1),
                ',' if depth == 1 => {
                    items.push(&text[begins..at]);
                    begins = at + 1;
                }
                _ => {}
            }
            at += match first {
                '\'' => quoted(rest, first, self.is_mysql),
                '"' | '`' => quoted(rest, first, false),
                _ => first.len_utf8(),
            };
        }
        None
    }
}

/// Keywords that can follow `ADD` to introduce a constraint on rows.
const ADDED: [&str; 7] =
    ["CONSTRAINT", "UNIQUE", "PRIMARY", "FOREIGN", "CHECK", "EXCLUDE", "COLUMN"];

/// Keywords of statements that change the numbers of an identity column, or whether rows have them.
const IDENTITY: [&str; 3] = ["ALWAYS", "IDENTITY", "RESTART"];

/// Returns the table and the constraint of a statement that the SQL parser doesn't understand, e.g.
/// one that adds an exclusion constraint. Returns `None` for statements that don't affect rows.
pub fn unread(statement: &str) -> Option<(String, String)> {
    let words: Vec<_> = statement.split_whitespace().collect();
    let has_word = |place: usize, word: &str| {
        words.get(place).is_some_and(|own| own.eq_ignore_ascii_case(word))
    };
    let skipped = |place: usize, word: &str| place + usize::from(has_word(place, word));
    let last = |place: usize| Some(of_text(words.get(place)?.split('(').next()?));
    if has_word(0, "CREATE") && has_word(1, "UNIQUE") {
        let on = words.iter().position(|word| word.eq_ignore_ascii_case("ON"))?;
        return Some((last(skipped(on + 1, "ONLY"))?, shortened(statement)));
    }
    if !has_word(0, "ALTER") || !has_word(1, "TABLE") {
        return None;
    }
    let place = 2 + 2 * usize::from(has_word(2, "IF"));
    let place = skipped(place, "ONLY");
    let added = words.get(place + 2)?.split('(').next()?.to_ascii_uppercase();
    let is_added = has_word(place + 1, "ADD") && ADDED.contains(&added.as_str());
    let excluded = words.iter().position(|word| word.eq_ignore_ascii_case("EXCLUDE"));
    let is_identity = |word: &&str| IDENTITY.iter().any(|own| word.eq_ignore_ascii_case(own));
    let is_numbered = has_word(place + 1, "ALTER") && words.iter().any(is_identity);
    let at = excluded.or(is_added.then_some(place + 2));
    let at = at.or(is_numbered.then_some(place + 1))?;
    Some((last(place)?, shortened(&words[at..].join(" "))))
}

/// Returns the start of an item on a single line and without leading comments, for use in messages.
pub fn shortened(item: &str) -> String {
    one_line(bare(item, false)).chars().take(QUOTED).collect()
}

fn one_line(item: &str) -> String {
    item.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns an item without any leading comments.
fn bare(item: &str, is_mysql: bool) -> &str {
    let mut item = item.trim_start();
    while let Some(length) = comment(item, is_mysql) {
        item = item[length..].trim_start();
    }
    item
}
