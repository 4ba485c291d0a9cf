//! The parameters of a query, of which one that cannot be decoded spoils no other.

use shell::Pairs;

/// Parameters in the order sent.
#[derive(Default)]
pub struct Query(Vec<(String, Value)>);

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// As it was meant.
    Text(String),
    /// As it was sent, because its bytes are not UTF-8.
    Undecodable(String),
}

impl Query {
    /// Reads a query string; what has no readable name is no parameter of any operation.
    pub fn parse(query: &str) -> Self {
        Self(query.split('&').filter_map(parameter).collect())
    }

    /// The first value with a name, in any case.
    pub fn first(&self, name: &str) -> Option<&Value> {
        let mut pairs = self.0.iter();
        pairs.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

fn parameter(part: &str) -> Option<(String, Value)> {
    let pair = |part| Pairs::parse(part).ok().and_then(|pairs| pairs.0.into_iter().next());
    if let Some((name, value)) = pair(part) {
        return Some((name, Value::Text(value)));
    }
    let (name, value) = part.split_once('=')?;
    Some((pair(name)?.0, Value::Undecodable(value.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_is_not_text_spoils_no_other() {
        let query = Query::parse("TYPE=%FF+a&%FF=1&%FF&&=&seed=%C3%BC+x&type=Visa&flag");
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        assert_eq!(query.first("type").cloned(), Some(Value::Undecodable("%FF+a".to_owned())));
        assert_eq!(query.first("SEED").cloned(), text("ü x"));
        assert_eq!(query.first("flag").cloned(), text(""));
        assert_eq!(query.first("refDate"), None);
    }
}
