//! Parses SQL statements in the dialects of PostgreSQL, MySQL and SQLite.

use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::globs;

/// The error for expressions that the SQL parser can't read without overflowing the stack.
const LONG_CHAIN: &str = "an expression has too many operators in a row";

/// Parses a statement in the first dialect in which it is valid.
pub fn parsed(text: &str) -> Result<Statement, String> {
    let dialects: [&dyn Dialect; 3] = [&PostgreSqlDialect {}, &MySqlDialect {}, &SQLiteDialect {}];
    let mut errors = Vec::new();
    let found = dialects
        .iter()
        .find_map(|dialect| statements_in(*dialect, text).map_err(|error| errors.push(error)).ok());
    match found.and_then(|mut statements| statements.pop()) {
        Some(statement) => Ok(statement),
        None if errors.iter().any(|error| error == LONG_CHAIN) => Err(LONG_CHAIN.to_owned()),
        None if globs::has_any(text) => parsed(&globs::hidden(text)),
        None => Err(errors.into_iter().next().unwrap_or_default()),
    }
}

/// Parses statements in a dialect.
fn statements_in(dialect: &dyn Dialect, text: &str) -> Result<Vec<Statement>, String> {
    let tokens = Tokenizer::new(dialect, text).tokenize_with_location();
    let tokens = tokens.map_err(|error| ParserError::from(error).to_string())?;
    if is_long_chain(&tokens) {
        return Err(LONG_CHAIN.to_owned());
    }
    let mut parser = Parser::new(dialect).with_tokens_with_locations(tokens);
    parser.parse_statements().map_err(|error| error.to_string())
}

/// Maximum number of words between two commas. Parentheses and brackets count as their longest
/// chain.
const MOST_WORDS: usize = 800;
/// Maximum number of operators, counted like words. Also the maximum number of set operators, such
/// as `UNION`, in a statement.
const MOST_OPERATORS: usize = 400;
/// Characters that operators start with.
const OPERATORS: &str = "+-*/%<>=!|&^~#:@?";

/// The numbers of words and operators in a chain.
#[derive(Clone, Copy, Default)]
struct Chain {
    words: usize,
    operators: usize,
}

impl Chain {
    fn max(self, other: Self) -> Self {
        let operators = self.operators.max(other.operators);
        Self { words: self.words.max(other.words), operators }
    }
}

/// Returns whether an expression is a chain of more operators than functions can recurse into
/// without overflowing the stack. The SQL parser only limits the depth of parentheses.
///
/// The tokens must be from the dialect in which they are parsed, because dialects disagree on where
/// strings and comments end.
fn is_long_chain(tokens: &[TokenWithSpan]) -> bool {
    let mut outer = Vec::new();
    // The current chain, and the longest earlier one in the same parentheses.
    let (mut chain, mut longest) = (Chain::default(), Chain::default());
    let (mut set_operators, mut is_operator) = (0_usize, false);
    for TokenWithSpan { token, .. } in tokens {
        // Adjacent operators such as `=-` count once.
        let was_operator = std::mem::take(&mut is_operator);
        match token {
            Token::LParen | Token::LBracket => {
                // Subscripts are operators, too.
                chain.operators += usize::from(*token == Token::LBracket);
                outer.push((chain, longest));
                (chain, longest) = (Chain::default(), Chain::default());
            }
            Token::RParen | Token::RBracket => {
                let inner = chain.max(longest);
                (chain, longest) = outer.pop().unwrap_or_default();
                chain = chain.max(inner);
            }
            Token::Comma => {
                longest = longest.max(chain);
                chain = Chain::default();
            }
            Token::Word(word) => {
                chain.words += usize::from(word.quote_style.is_none());
                set_operators += usize::from(is_set_operator(word.keyword));
            }
            Token::Whitespace(_) => {}
            other => {
                let text = other.to_string();
                is_operator = text.starts_with(|letter: char| OPERATORS.contains(letter));
                chain.operators += usize::from(is_operator && !was_operator);
            }
        }
        if chain.words > MOST_WORDS || chain.operators.max(set_operators) > MOST_OPERATORS {
            return true;
        }
    }
    false
}

fn is_set_operator(word: Keyword) -> bool {
    matches!(word, Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS)
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect};
    use sqlparser::tokenizer::Tokenizer;

    use super::is_long_chain;

    fn is_long(dialect: &dyn Dialect, text: &str) -> bool {
        is_long_chain(&Tokenizer::new(dialect, text).tokenize_with_location().unwrap())
    }

    /// Returns an expression with 101 operators in a row at each of five levels.
    fn nested(level: fn(&str, &str) -> String) -> String {
        (0..5).fold("1".to_owned(), |inner, _| level(&inner, &" + 1".repeat(101)))
    }

    #[test]
    fn operators_in_a_row_are_counted_for_each_level() {
        let columns = "a int CHECK (a > 1 AND a < 9 OR a = 5), ".repeat(5_000);
        let text = "x".to_owned() + &" AND OR < 'x' ||".repeat(5_000);
        for (chain, expected) in [
            ("x".to_owned() + &" OR x = 'a, b'".repeat(300), false),
            ("x".to_owned() + &" OR (x = 'a')".repeat(900), true),
            ("1".to_owned() + &" + 1".repeat(401), true),
            ("'a'".to_owned() + &" @> 'a'".repeat(401), true),
            ("'a'".to_owned() + &" ?| 'a'".repeat(401), true),
            ("a".to_owned() + &"[1]".repeat(401), true),
            ("a".to_owned() + &" || ARRAY[1, 2]".repeat(401), true),
            (nested(|inner, chain| format!("({inner}{chain})")), true),
            (nested(|inner, chain| format!("f(1{chain}, ({inner}{chain}), 1)")), true),
            ("SELECT 1, 2".to_owned() + &" UNION SELECT 1, 2".repeat(401), true),
            ("ARRAY[a[1] + a[2], a[3] + 4], ".repeat(5_000), false),
            (format!("a text DEFAULT '{}'", text.replace('\'', "''")), false),
            (format!("/* {text} */ a int"), false),
            (")".repeat(500) + &"(".repeat(500), false),
            (columns, false),
        ] {
            let start: String = chain.chars().take(40).collect();
            assert_eq!(is_long(&PostgreSqlDialect {}, &chain), expected, "{start}");
        }
    }

    #[test]
    fn operators_are_counted_where_the_dialect_has_no_string_or_comment() {
        let (mysql, postgresql): (&dyn Dialect, &dyn Dialect) =
            (&MySqlDialect {}, &PostgreSqlDialect {});
        let chain = " OR x = 1".repeat(900);
        for (dialect, text, expected) in [
            (mysql, format!(r"a text DEFAULT 'it\'s{chain}'"), false),
            (mysql, format!(r"x = '\''{chain} OR x = ''"), true),
            (mysql, format!(r"x = '\'{chain} -- '"), false),
            (postgresql, format!(r"x = '\'{chain} -- '"), true),
            (postgresql, format!(r"x = E'\''{chain} OR x = ''"), true),
            (mysql, "1".to_owned() + &"--1".repeat(900), true),
            (postgresql, "1".to_owned() + &"--1".repeat(900), false),
            (mysql, format!("a int # {chain}"), false),
            (postgresql, format!("a int # {chain}"), true),
            (postgresql, format!("a text DEFAULT $${chain}$$"), false),
        ] {
            let start: String = text.chars().take(40).collect();
            assert_eq!(is_long(dialect, &text), expected, "{start}");
        }
    }
}
