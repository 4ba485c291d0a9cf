//! Finds the columns that a check constraint mentions.

use sqlparser::ast::Expr;

use super::checks::arguments;

/// Collects the names of the columns that [`apply`](super::checks::apply) might change.
pub fn mention<'e>(check: &'e Expr, names: &mut Vec<&'e str>) {
    match check {
        Expr::Identifier(name) => names.push(&name.value),
        Expr::Nested(expr)
        | Expr::Cast { expr, .. }
        | Expr::Collate { expr, .. }
        | Expr::Trim { expr, .. }
        | Expr::IsNotNull(expr)
        | Expr::IsNull(expr)
        | Expr::InList { expr, .. }
        | Expr::AnyOp { left: expr, .. }
        | Expr::AllOp { left: expr, .. }
        | Expr::Like { expr, .. }
        | Expr::RLike { expr, .. } => mention(expr, names),
        Expr::BinaryOp { left, right, .. } => {
            mention(left, names);
            mention(right, names);
        }
        Expr::Between { expr, low, high, .. } => {
            for expr in [expr, low, high] {
                mention(expr, names);
            }
        }
        Expr::Function(function) => {
            for expr in arguments(function) {
                mention(expr, names);
            }
        }
        _ => {}
    }
}
