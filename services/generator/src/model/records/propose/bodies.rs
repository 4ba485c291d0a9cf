//! The bodies of `CREATE TABLE` statements. We split them ourselves for what the SQL parser doesn't
//! support: copies of other tables, and columns and constraints of unusual kinds.

use std::collections::HashMap;

use super::statements::{comment, quoted};

/// Maximum length of a quoted item in characters.
const QUOTED: usize = 80;

/// The columns and constraints of a file's tables, by the tables' names in lower case.
pub struct Bodies {
    items: HashMap<String, Vec<String>>,
    is_mysql: bool,
}

/// A statement, split at the commas of its body.
struct Split<'a> {
    before: &'a str,
    items: Vec<&'a str>,
    after: &'a str,
}

impl Bodies {
    pub fn new(is_mysql: bool) -> Self {
        Self { items: HashMap::new(), is_mysql }
    }

    /// Remembers a table's columns and constraints.
    pub fn add(&mut self, name: &str, statement: &str) {
        if let Some(split) = self.split(statement) {
            let items = split.items.into_iter().map(str::to_owned).collect();
            self.items.insert(name.to_lowercase(), items);
        }
    }

    /// Returns a statement with the columns and constraints that it takes from other tables, by
    /// `LIKE` or `INHERITS`. `None` if it takes nothing.
    ///
    /// Some of the constraints would not be taken. Rows that satisfy them fit all the same.
    pub fn expanded(&self, statement: &str) -> Option<String> {
        let Some(split) = self.split(statement) else {
            // In MySQL, there are no parentheses.
            let words: Vec<_> = statement.split_whitespace().collect();
            let like = words.iter().position(|word| word.eq_ignore_ascii_case("LIKE"))?;
            let items = self.named(words.get(like + 1)?)?;
            return Some(format!("{} ({})", words[..like].join(" "), items.join(",")));
        };
        let (mut items, mut others) = (Vec::new(), Vec::new());
        for item in split.items {
            let mut words = item.split_whitespace();
            let is_like = words.next().is_some_and(|word| word.eq_ignore_ascii_case("LIKE"));
            match words.next().filter(|_| is_like).and_then(|name| self.named(name)) {
                Some(more) => others.extend(more),
                None => items.push(item),
            }
        }
        let inherits = split.after.to_ascii_uppercase().find("INHERITS");
        let parents = inherits.and_then(|at| split.after.get(at..)?.split(['(', ')']).nth(1));
        for name in parents.into_iter().flat_map(|names| names.split(',')) {
            others.extend(self.named(name.trim()).into_iter().flatten());
        }
        if others.is_empty() {
            return None;
        }
        // A column can be declared again.
        let first = |item: &str| item.split_whitespace().next().map(str::to_lowercase);
        let own: Vec<_> = items.iter().map(|item| first(item)).collect();
        let others = others.into_iter().map(String::as_str);
        let others = others.filter(|item| !own.contains(&first(item)));
        let all: Vec<_> = others.chain(items.iter().copied()).collect();
        let all: Vec<_> = all.into_iter().filter(|item| !item.trim().is_empty()).collect();
        Some(format!("{}({}){}", split.before, all.join(","), split.after))
    }

    /// Returns a statement without the columns and constraints that `is_known` does not understand,
    /// and those.
    pub fn understood(
        &self,
        statement: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Option<(String, Vec<String>)> {
        let Split { before, items, after } = self.split(statement)?;
        let is_known = |item: &&str| is_known(&format!("CREATE TABLE t ({item})"));
        let (known, others): (Vec<_>, Vec<_>) = items.into_iter().partition(is_known);
        if known.is_empty() || others.is_empty() {
            return None;
        }
        let others = others.into_iter().map(shortened).collect();
        Some((format!("{before}({}){after}", known.join(",")), others))
    }

    fn named(&self, name: &str) -> Option<&Vec<String>> {
        let name = name.rsplit('.').next().unwrap_or_default().trim_matches(['"', '`']);
        self.items.get(&name.to_lowercase())
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

/// Reads the table and the constraint from a statement that adds an exclusion, which the SQL parser
/// doesn't support.
pub fn exclusion(statement: &str) -> Option<(String, String)> {
    let words: Vec<_> = statement.split_whitespace().collect();
    let is = |place: usize, word: &str| {
        words.get(place).is_some_and(|own| own.eq_ignore_ascii_case(word))
    };
    let at = words.iter().position(|word| word.eq_ignore_ascii_case("EXCLUDE"))?;
    if !is(0, "ALTER") || !is(1, "TABLE") {
        return None;
    }
    let place = 2 + 2 * usize::from(is(2, "IF"));
    let place = place + usize::from(is(place, "ONLY"));
    let name = words.get(place)?.rsplit('.').next()?.trim_matches('"').to_owned();
    Some((name, shortened(&words[at..].join(" "))))
}

/// Returns an item on one line, for messages, without the comments before it.
fn shortened(item: &str) -> String {
    let mut item = item.trim_start();
    while let Some(length) = comment(item, false) {
        item = item[length..].trim_start();
    }
    let line = item.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(QUOTED).collect()
}
