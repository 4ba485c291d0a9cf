//! Translates SQL check constraints to limits on column values.

use serde_json::Value;
use sqlparser::ast::{
    BinaryOperator as Op, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    UnaryOperator, Value as Literal,
};

use super::column::{Column, Stored};
use super::globs;
use super::measures::is_plain;
use super::names::by_name;
use super::settled::is_match;
use super::types::object;

/// Maximum length of a string.
const LONGEST: u32 = 1_000;
/// Email addresses in the styles that we generate, for testing patterns against.
const ADDRESSES: [&str; 3] =
    ["greta.vogel@example.com", "m_lind2@example.org", "gvogel17@example.net"];
/// Parts of a person that have so few values that they are likely to be a given one.
const FEW_VALUES: [&str; 7] =
    ["cardType", "city", "countryCode", "givenName", "region", "sex", "surname"];
/// The keyword for the column in a domain's checks.
const VALUE: &str = "VALUE";

/// Applies a check to a table's columns, or to a single column. Returns false if rows might still
/// violate the check.
pub fn apply(check: &Expr, columns: &mut [Column]) -> bool {
    match check {
        Expr::Nested(inner) => apply(inner, columns),
        Expr::Value(value) => value.value == Literal::Boolean(true),
        Expr::BinaryOp { left, op: Op::And, right } => {
            // Apply column-to-column comparisons last, because they divide up whatever range the
            // other checks leave.
            let is_first = has_order(left, columns) && !has_order(right, columns);
            let (first, last) = if is_first { (right, left) } else { (left, right) };
            let is_kept = apply(first, columns);
            apply(last, columns) && is_kept
        }
        Expr::BinaryOp { left, op: Op::Or, right } => {
            // Only resort to nulls if nothing else works.
            let (first, last) = if is_null_test(left) { (right, left) } else { (left, right) };
            let before = columns.to_vec();
            if apply(first, columns) {
                return true;
            }
            columns.clone_from_slice(&before);
            apply(last, columns)
        }
        Expr::IsNotNull(inner) => with(inner, columns, |column| {
            // A computed date is null if the date it is computed from is null.
            let is_known = column.required || column.after.is_none();
            column.required = true;
            is_known && !column.is_null
        }),
        Expr::IsNull(inner) => with(inner, columns, |column| {
            column.is_null = !column.required && !column.is_key;
            column.is_null
        }),
        Expr::InList { expr, list, negated } => {
            one_of(expr, list.iter().filter_map(literal).collect(), *negated, columns)
        }
        // This is how PostgreSQL prints `IN`.
        Expr::AnyOp { left, compare_op: Op::Eq, right, .. } => {
            one_of(left, items(right), false, columns)
        }
        Expr::AllOp { left, compare_op: Op::NotEq, right } => {
            one_of(left, items(right), true, columns)
        }
        Expr::Between { expr, negated: false, low, high } => {
            compare(expr, &Op::GtEq, low, columns) && compare(expr, &Op::LtEq, high, columns)
        }
        Expr::Like { negated: false, expr, pattern, escape_char, .. } => {
            like(expr, pattern, escape(escape_char.as_ref()), columns)
        }
        Expr::RLike { negated: false, expr, pattern, .. } => regex((expr, pattern), true, columns),
        Expr::BinaryOp { left, op: Op::PGLikeMatch, right } => {
            like(left, right, escape(None), columns)
        }
        Expr::BinaryOp { left, op: op @ (Op::PGRegexMatch | Op::PGRegexIMatch), right } => {
            regex((left, right), *op == Op::PGRegexIMatch, columns)
        }
        Expr::BinaryOp { left, op, right } => {
            compare(left, op, right, columns)
                || flipped(op).is_some_and(|op| compare(right, &op, left, columns))
        }
        Expr::Function(function) => match (name(function).as_str(), &*arguments(function)) {
            ("json_valid", [inner]) => with(inner, columns, |column| {
                column.stored = Stored::Known(object());
                true
            }),
            ("regexp_like", [inner, pattern, ..]) => regex((inner, pattern), true, columns),
            _ => false,
        },
        _ => false,
    }
}

/// Returns whether a check compares two columns.
pub fn has_order(check: &Expr, columns: &[Column]) -> bool {
    match check {
        Expr::Nested(inner) => has_order(inner, columns),
        Expr::BinaryOp { left, op: Op::And | Op::Or, right } => {
            has_order(left, columns) || has_order(right, columns)
        }
        Expr::BinaryOp { left, right, .. } => {
            place(left, columns).is_some() && place(right, columns).is_some()
        }
        _ => false,
    }
}

/// Returns whether a check only requires columns to be null.
fn is_null_test(expression: &Expr) -> bool {
    match expression {
        Expr::Nested(inner) => is_null_test(inner),
        Expr::BinaryOp { left, op: Op::And | Op::Or, right } => {
            is_null_test(left) && is_null_test(right)
        }
        Expr::IsNull(_) => true,
        _ => false,
    }
}

fn flipped(op: &Op) -> Option<Op> {
    Some(match op {
        Op::Gt => Op::Lt,
        Op::GtEq => Op::LtEq,
        Op::Lt => Op::Gt,
        Op::LtEq => Op::GtEq,
        Op::Eq => Op::Eq,
        Op::NotEq => Op::NotEq,
        _ => return None,
    })
}

/// Returns the column's index if the expression is just a column.
fn place(expression: &Expr, columns: &[Column]) -> Option<usize> {
    match expression {
        Expr::Identifier(name) => {
            let known =
                columns.iter().position(|column| column.name.eq_ignore_ascii_case(&name.value));
            let is_only = columns.len() == 1 && name.value.eq_ignore_ascii_case(VALUE);
            known.or(is_only.then_some(0))
        }
        Expr::Nested(expr) | Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => {
            place(expr, columns)
        }
        _ => None,
    }
}

/// Calls `change` on the column if the expression is just a column. Otherwise, returns false.
fn with(
    expression: &Expr,
    columns: &mut [Column],
    change: impl FnOnce(&mut Column) -> bool,
) -> bool {
    place(expression, columns).is_some_and(|place| change(&mut columns[place]))
}

/// Returns the items of an array, even if PostgreSQL has wrapped it in casts.
fn items(expression: &Expr) -> Vec<Value> {
    match expression {
        Expr::Nested(expr) | Expr::Cast { expr, .. } => items(expr),
        Expr::Array(array) => array.elem.iter().filter_map(literal).collect(),
        _ => Vec::new(),
    }
}

fn one_of(expression: &Expr, values: Vec<Value>, is_negated: bool, columns: &mut [Column]) -> bool {
    with(expression, columns, |column| match is_negated {
        // A computed date only depends on the other column.
        _ if values.is_empty() || column.after.is_some() => false,
        false => column.choose(values),
        true => exclude(column, &values),
    })
}

/// Excludes these values. Returns false if rows might still have them.
fn exclude(column: &mut Column, values: &[Value]) -> bool {
    if !column.choices.is_empty() {
        column.choices.retain(|choice| !values.contains(choice));
        return !column.choices.is_empty();
    }
    // Generated strings are never empty, and only few are likely to be one of the other values.
    let is_likely = |field: Value| match field["part"].as_str() {
        Some(part) => FEW_VALUES.contains(&part),
        None => field["type"] == "choice",
    };
    let is_named = !column.is_status && column.regex.is_none();
    let is_excluded = is_named
        && values.iter().any(|value| *value != "")
        && by_name(&column.name).is_some_and(is_likely);
    if !matches!(column.stored, Stored::Text(_)) || is_excluded {
        return false;
    }
    // Later checks must not bring the values back.
    column.excluded.extend_from_slice(values);
    true
}

/// Applies a comparison whose left side is a column or a function of a column.
fn compare(left: &Expr, op: &Op, right: &Expr, columns: &mut [Column]) -> bool {
    match left {
        Expr::Nested(inner) => return compare(inner, op, right, columns),
        Expr::Function(function) => {
            let (name, arguments) = (name(function), arguments(function));
            let [inner] = &*arguments else { return false };
            let inner = untrimmed(inner);
            return match name.as_str() {
                "length" | "char_length" | "character_length" | "octet_length" => {
                    let length = literal(right).and_then(|value| value.as_f64());
                    length.is_some_and(|length| has_length(inner, op, length, columns))
                }
                "upper" | "lower" if *op == Op::Eq && is_same(inner, right, columns) => {
                    with(inner, columns, |column| column.set_case(name == "upper"))
                }
                // Generated strings are never empty.
                "trim" | "btrim" => *op == Op::NotEq && place(inner, columns).is_some(),
                _ => false,
            };
        }
        Expr::Trim { expr, .. } => return *op == Op::NotEq && place(expr, columns).is_some(),
        _ => {}
    }
    let Some(own) = place(left, columns) else { return false };
    if let Some(other) = place(right, columns) {
        return other != own && order(own, op, other, columns);
    }
    let column = &mut columns[own];
    if column.after.is_some() {
        // A computed date only depends on the other column.
        return false;
    }
    if is_now(right) {
        // These dates are in the past whenever the rows are generated. The reference date can't
        // serve as a bound, because with a seed it is in the future.
        column.days.0.get_or_insert_with(|| "2000-01-01".to_owned());
        column.end_by("2024-12-31".to_owned());
        return matches!(op, Op::Lt | Op::LtEq) && is_day(column);
    }
    let Some(value) = literal(right) else { return false };
    if is_day(column) {
        return value.as_str().is_some_and(|text| column.limit_days(op, text));
    }
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    let is_number = matches!(column.stored, Stored::Integer | Stored::Decimal(_));
    match (op, number.filter(|_| is_number)) {
        (Op::Eq, _) => column.choose(vec![value]),
        (Op::NotEq, None) => exclude(column, &[value]),
        (Op::NotEq, Some(number)) => {
            // A number can only be excluded if it is at the edge of the range.
            let is_first = column.least.unwrap_or(0.0) >= number;
            is_first && raise(column, number + column.step())
        }
        (Op::GtEq, Some(number)) => raise(column, number),
        (Op::Gt, Some(number)) => raise(column, number + column.step()),
        (Op::LtEq, Some(number)) => lower(column, number),
        (Op::Lt, Some(number)) => lower(column, number - column.step()),
        _ => false,
    }
}

fn raise(column: &mut Column, least: f64) -> bool {
    column.least = Some(column.least.map_or(least, |known| known.max(least)));
    column.limit.is_none_or(|limit| least <= limit)
}

fn lower(column: &mut Column, most: f64) -> bool {
    column.most = Some(column.most.map_or(most, |known| known.min(most)));
    column.limit.is_none_or(|limit| most >= -limit)
}

fn is_day(column: &Column) -> bool {
    matches!(column.stored, Stored::Date | Stored::Timestamp)
}

fn is_now(expression: &Expr) -> bool {
    match expression {
        Expr::Nested(expr) | Expr::Cast { expr, .. } => is_now(expr),
        Expr::Function(function) => {
            ["now", "current_date", "current_timestamp"].contains(&name(function).as_str())
        }
        _ => false,
    }
}

/// Applies a comparison between two columns.
fn order(own: usize, op: &Op, other: usize, columns: &mut [Column]) -> bool {
    let (low, high) = match op {
        Op::Lt | Op::LtEq => (own, other),
        Op::Gt | Op::GtEq => (other, own),
        // "Not equal" holds between a key and a reference to an earlier row, because such a
        // reference never points at its own row.
        Op::NotEq => {
            let key = |place: usize| columns[place].is_key;
            let refers = |place: usize| columns[place].refers.is_some();
            return key(own) && refers(other) || key(other) && refers(own);
        }
        _ => return false,
    };
    let is_strict = matches!(op, Op::Lt | Op::Gt);
    let is_number = |column: &Column| matches!(column.stored, Stored::Integer | Stored::Decimal(_));
    if is_day(&columns[low]) && columns[low].stored == columns[high].stored {
        let name = columns[low].name.clone();
        // Another check might have compared the same columns.
        let known = columns[high].after.as_ref();
        let high_is_free = known.is_none_or(|(before, _)| *before == name)
            && columns[high].days == (None, None)
            && columns[high].choices.is_empty()
            && columns[high].refers.is_none();
        let least = known.map_or(0, |(_, least)| *least).max(i64::from(is_strict));
        let is_never = columns[low].is_null && columns[high].required;
        if !is_plain(&name) || !high_is_free || is_never {
            return false;
        }
        columns[high].after = Some((name, least));
        // A date computed from a null would be null as well.
        columns[low].required |= columns[high].required;
        return true;
    }
    if !is_number(&columns[low]) || !is_number(&columns[high]) {
        return false;
    }
    // Give the lower half of the range to one column and the upper half to the other.
    let usual =
        |column: &Column| if column.stored == Stored::Integer { 1_000_000.0 } else { 1_000.0 };
    let most = |column: &Column| {
        let most = column.most.unwrap_or_else(|| usual(column));
        most.min(column.limit.unwrap_or(most))
    };
    let least = columns[low].least.unwrap_or(0.0).max(columns[high].least.unwrap_or(0.0));
    let most = most(&columns[low]).min(most(&columns[high]));
    let middle = (f64::midpoint(least, most)).floor();
    if middle < least || middle + 1.0 > most {
        return false;
    }
    lower(&mut columns[low], middle);
    raise(&mut columns[high], middle + 1.0)
}

fn has_length(inner: &Expr, op: &Op, length: f64, columns: &mut [Column]) -> bool {
    let length = length as u32;
    with(inner, columns, |column| {
        let Stored::Text(longest) = &mut column.stored else { return false };
        let (least, most) = match op {
            Op::Eq => (length, Some(length)),
            Op::Gt => (length.saturating_add(1), None),
            Op::GtEq => (length, None),
            Op::Lt => (0, Some(length.saturating_sub(1))),
            Op::LtEq => (0, Some(length)),
            _ => return length == 0,
        };
        column.shortest = column.shortest.max(least);
        *longest = match (*longest, most) {
            (Some(known), Some(most)) => Some(known.min(most)),
            (known, most) => known.or(most),
        };
        // Generated strings are never empty.
        column.shortest.max(1) <= longest.unwrap_or(LONGEST).min(LONGEST)
    })
}

fn is_same(left: &Expr, right: &Expr, columns: &[Column]) -> bool {
    place(left, columns).is_some_and(|own| place(right, columns) == Some(own))
}

fn untrimmed(expression: &Expr) -> &Expr {
    match expression {
        Expr::Trim { expr, .. } | Expr::Nested(expr) | Expr::Cast { expr, .. } => untrimmed(expr),
        Expr::Function(function) if ["trim", "btrim"].contains(&name(function).as_str()) => {
            arguments(function).first().map_or(expression, |inner| untrimmed(inner))
        }
        _ => expression,
    }
}

/// Returns the escape character of a pattern, if any.
fn escape(stated: Option<&Literal>) -> Option<char> {
    match stated {
        Some(Literal::SingleQuotedString(text)) => text.chars().next(),
        _ => Some('\\'),
    }
}

/// Translates a `LIKE` pattern to a regular expression, in which `any` and `one` take the place of
/// the wildcards.
fn translated(pattern: &str, escape: Option<char>, any: &str, one: &str) -> String {
    let (mut regex, mut letters) = (String::new(), pattern.chars());
    while let Some(letter) = letters.next() {
        let literal = match letter {
            letter if Some(letter) == escape => letters.next(),
            '%' | '_' => {
                regex.push_str(if letter == '%' { any } else { one });
                None
            }
            letter => Some(letter),
        };
        regex.extend(literal.map(|letter| regex_syntax::escape(&letter.to_string())));
    }
    regex
}

fn like(expression: &Expr, pattern: &Expr, escape: Option<char>, columns: &mut [Column]) -> bool {
    let Some(Value::String(pattern)) = literal(pattern) else { return false };
    with(expression, columns, |column| {
        // Email addresses always have a domain, so there is nothing to do.
        let is_email = column.name.to_lowercase().contains("mail");
        let is_any = ["%@%", "%_@_%", "%@%.%", "%_@_%._%", "%_@__%.__%"].contains(&&*pattern);
        if !column.choices.is_empty() {
            let regex = translated(&pattern, escape, ".*", ".");
            return column.choose_matching(&format!("(?s)^{regex}$"));
        }
        if !(is_email && is_any) {
            let regex = translated(&pattern, escape, "[a-z]{6}", "[a-z]");
            return column.set_regex(format!("^{regex}$"));
        }
        matches!(column.stored, Stored::Text(_))
    })
}

fn regex(
    (expression, pattern): (&Expr, &Expr),
    ignores_case: bool,
    columns: &mut [Column],
) -> bool {
    let Some(Value::String(pattern)) = literal(pattern) else { return false };
    with(expression, columns, |column| {
        if let Some(glob) = globs::pattern(&pattern) {
            return match column.choices.is_empty() {
                true => column.set_regex(globs::translated(glob, "[a-z0-9]{8}", "[a-z0-9]")),
                false => column.choose_matching(&globs::translated(glob, ".*", ".")),
            };
        }
        if !column.choices.is_empty() {
            return column.choose_matching(&pattern);
        }
        // Prefer realistic email addresses to random letters of the same shape.
        let is_email = column.name.to_lowercase().contains("mail") && pattern.contains('@');
        let folded = format!("{}{pattern}", if ignores_case { "(?i)" } else { "" });
        if is_email && ADDRESSES.iter().all(|address| is_match(&folded, address)) {
            return matches!(column.stored, Stored::Text(_));
        }
        column.set_regex(pattern)
    })
}

fn name(function: &Function) -> String {
    let last = function.name.0.last().and_then(|part| part.as_ident());
    last.map(|ident| ident.value.to_lowercase()).unwrap_or_default()
}

/// Returns the unnamed arguments of a function.
pub fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    let expression = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expression)) => Some(expression),
        _ => None,
    };
    list.args.iter().filter_map(expression).collect()
}

/// Returns the value of a literal, which can be preceded by a type or a character set.
pub fn literal(expression: &Expr) -> Option<Value> {
    match expression {
        Expr::Value(value) => match &value.value {
            Literal::Number(digits, _) => digits.parse::<f64>().ok().map(number),
            Literal::SingleQuotedString(text) | Literal::EscapedStringLiteral(text) => {
                Some(text.clone().into())
            }
            Literal::Boolean(value) => Some((*value).into()),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            literal(expr)?.as_f64().map(|value| number(-value))
        }
        Expr::TypedString(typed) => match &typed.value.value {
            Literal::SingleQuotedString(text) => Some(text.clone().into()),
            _ => None,
        },
        Expr::Cast { expr, .. } | Expr::Nested(expr) | Expr::Collate { expr, .. } => literal(expr),
        Expr::Prefixed { value, .. } => literal(value),
        _ => None,
    }
}

fn number(value: f64) -> Value {
    if value.fract() == 0.0 { (value as i64).into() } else { value.into() }
}
