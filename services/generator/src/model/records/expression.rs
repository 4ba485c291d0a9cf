//! Parses expressions that are computed from the values in a row.

use super::evaluation::{Function, Node, Operator, Value};

/// Maximum expression length in bytes.
const LONGEST: usize = 1_000;
/// Maximum nesting depth of an expression.
const DEEPEST: usize = 32;

/// All functions, as name, function and number of arguments.
const FUNCTIONS: [(&str, Function, usize); 15] = [
    ("upper", Function::Upper, 1),
    ("lower", Function::Lower, 1),
    ("slug", Function::Slug, 1),
    ("length", Function::Length, 1),
    ("left", Function::Left, 2),
    ("round", Function::Round, 2),
    ("floor", Function::Floor, 1),
    ("ceil", Function::Ceiling, 1),
    ("abs", Function::Absolute, 1),
    ("min", Function::Least, 2),
    ("max", Function::Greatest, 2),
    ("if", Function::If, 3),
    ("addDays", Function::AddDays, 2),
    ("daysBetween", Function::DaysBetween, 2),
    ("year", Function::Year, 1),
];

/// A parsed expression.
#[derive(Debug)]
pub struct Expression {
    root: Node,
    /// Names of the fields used in the expression. The expression refers to fields by their index
    /// in this list.
    pub names: Vec<String>,
}

impl Expression {
    /// Parses an expression, which can contain numbers, `'texts'`, field names, `+ - * / %`, `&`
    /// for joining strings, `< > =`, parentheses and function calls.
    ///
    /// # Errors
    /// Returns a description of the first error and its position.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("must be at most {LONGEST} bytes long"));
        }
        let mut parser = Parser { text, at: 0, names: Vec::new() };
        let root = parser.comparison(0)?;
        match parser.peek() {
            None => Ok(Self { root, names: parser.names }),
            Some(_) => Err(parser.expected("an operator or the end")),
        }
    }

    /// Evaluates the expression. `read` returns the value of a field.
    pub fn value(&self, read: &mut dyn FnMut(usize) -> Value) -> Value {
        self.root.value(read)
    }

    /// Returns whether the value can be null, either because a field can be null or because a
    /// divisor can be 0. `is_nullable` gets the index of a field.
    pub fn can_be_null(&self, is_nullable: &dyn Fn(usize) -> bool) -> bool {
        self.root.can_be_null(is_nullable)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    names: Vec<String>,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<char> {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest.chars().next()
    }

    fn expected(&self, what: &str) -> String {
        let place = self.text[..self.at].chars().count() + 1;
        format!("is wrong at character {place}: {what} is expected")
    }

    /// Parses operators that have the same precedence.
    fn level(
        &mut self,
        depth: usize,
        operators: &[(char, Operator)],
        part: fn(&mut Self, usize) -> Result<Node, String>,
    ) -> Result<Node, String> {
        let mut left = part(self, depth)?;
        while let Some(found) = self.peek().and_then(|sign| {
            operators.iter().find(|(own, _)| *own == sign).map(|(_, operator)| *operator)
        }) {
            self.at += 1;
            left = Node::Binary(found, Box::new((left, part(self, depth)?)));
        }
        Ok(left)
    }

    fn comparison(&mut self, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err(format!("must not be nested more than {DEEPEST} levels deep"));
        }
        let signs = [('<', Operator::Less), ('>', Operator::Greater), ('=', Operator::Equal)];
        self.level(depth, &signs, Self::sum)
    }

    fn sum(&mut self, depth: usize) -> Result<Node, String> {
        let signs = [('+', Operator::Add), ('-', Operator::Subtract), ('&', Operator::Concatenate)];
        self.level(depth, &signs, Self::product)
    }

    fn product(&mut self, depth: usize) -> Result<Node, String> {
        let signs =
            [('*', Operator::Multiply), ('/', Operator::Divide), ('%', Operator::Remainder)];
        self.level(depth, &signs, Self::primary)
    }

    fn primary(&mut self, depth: usize) -> Result<Node, String> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.comparison(depth + 1)?;
                self.close()?;
                Ok(inner)
            }
            Some('\'') => {
                let mut text = String::new();
                loop {
                    let rest = &self.text[self.at + 1..];
                    let end = rest.find('\'');
                    let end = end.ok_or_else(|| self.expected("the end of the text, '"))?;
                    text.push_str(&rest[..end]);
                    self.at += end + 1;
                    // A doubled quote is a literal quote.
                    if !rest[end + 1..].starts_with('\'') {
                        break;
                    }
                    text.push('\'');
                    self.at += 1;
                }
                self.at += 1;
                Ok(Node::Constant(Value::Text(text)))
            }
            Some(sign) if sign.is_ascii_digit() => {
                let number = self.take(|letter| letter.is_ascii_digit() || letter == '.');
                // More than 308 digits would become infinity, which JSON and SQL can't express.
                let number = number.parse().ok().filter(|number: &f64| number.is_finite());
                let number = number.ok_or_else(|| self.expected("a number"))?;
                Ok(Node::Constant(Value::Number(number)))
            }
            Some('-') if depth < DEEPEST => {
                self.at += 1;
                let zero = Node::Constant(Value::Number(0.0));
                let negated = self.primary(depth + 1)?;
                Ok(Node::Binary(Operator::Subtract, Box::new((zero, negated))))
            }
            Some(sign) if sign.is_alphabetic() || sign == '_' => {
                let name = self.take(|letter| letter.is_alphanumeric() || letter == '_');
                if self.peek() == Some('(') { self.call(name, depth) } else { Ok(self.field(name)) }
            }
            _ => Err(self.expected("a number, 'text', field, function or (")),
        }
    }

    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|letter| !fits(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn field(&mut self, name: &str) -> Node {
        let known = self.names.iter().position(|known| known == name);
        Node::Field(known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        }))
    }

    fn call(&mut self, name: &str, depth: usize) -> Result<Node, String> {
        let Some((_, function, count)) = FUNCTIONS.iter().find(|(own, ..)| *own == name) else {
            let names: Vec<_> = FUNCTIONS.iter().map(|(own, ..)| *own).collect();
            return Err(format!(
                "has an unknown function, {name}; expected one of {}",
                names.join(", ")
            ));
        };
        self.at += 1;
        let mut arguments = vec![self.comparison(depth + 1)?];
        while self.peek() == Some(',') {
            self.at += 1;
            arguments.push(self.comparison(depth + 1)?);
        }
        self.close()?;
        match arguments.len() == *count {
            true => Ok(Node::Call(*function, arguments)),
            false => {
                Err(format!("calls {name} with {} arguments; it takes {count}", arguments.len()))
            }
        }
    }

    fn close(&mut self) -> Result<(), String> {
        if self.peek() != Some(')') {
            return Err(self.expected(")"));
        }
        self.at += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calculated(text: &str) -> Value {
        let expression = Expression::parse(text).unwrap();
        let names = expression.names.clone();
        expression.value(&mut |place| match names[place].as_str() {
            "price" => Value::Number(12.5),
            "count" => Value::Number(3.0),
            "name" => Value::Text("Ada Löwe".to_owned()),
            "born" => Value::Text("2000-02-28".to_owned()),
            "sent" => Value::Text("2026-12-31T23:00:00Z".to_owned()),
            _ => Value::Null,
        })
    }

    #[test]
    fn operators_and_functions_are_evaluated_by_precedence() {
        let number = |text: &str| match calculated(text) {
            Value::Number(number) => number,
            other => panic!("{text}: {other:?}"),
        };
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 2 - 3", 5.0),
            ("-count + 5 % 3", -1.0),
            ("round(price * count * 1.19, 2)", 44.63),
            ("round(1234.5, -2) + round(1251, 0 - 2)", 2500.0),
            ("if(price > 10, 1, 0)", 1.0),
            ("min(price, 4) + max(1, 2) + abs(0 - 3)", 9.0),
            ("daysBetween(born, '2000-03-01')", 2.0),
            ("year(sent) + length(name)", 2034.0),
        ] {
            assert!((number(text) - expected).abs() < 1e-9, "{text}: {}", number(text));
        }
        for (text, expected) in [
            ("upper(left(name, 3)) & '-' & count", "ADA-3"),
            ("slug(name & ' & Sons!')", "ada-löwe-sons"),
            ("'it''s' & '''' & ''", "it's'"),
            ("addDays(sent, 1)", "2027-01-01T23:00:00Z"),
        ] {
            assert_eq!(calculated(text), Value::Text(expected.to_owned()), "{text}");
        }
        assert_eq!(calculated("missing + 1"), Value::Null);
        assert_eq!(calculated("1 / 0"), Value::Null);
        assert_eq!(calculated("name = 'Ada Löwe'"), Value::Boolean(true));
    }

    #[test]
    fn wrong_expressions_are_explained() {
        for (text, expected) in [
            ("", "at character 1"),
            ("1 +", "at character 4"),
            ("(1", ") is expected"),
            ("'x", "the end of the text"),
            ("sqrt(2)", "unknown function, sqrt"),
            ("upper('a', 'b')", "with 2 arguments; it takes 1"),
            ("1 2", "an operator or the end"),
            (&"(".repeat(100), "32 levels deep"),
            (&"-".repeat(900), "is expected"),
            (&"9".repeat(400), "a number is expected"),
        ] {
            let error = Expression::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
