//! The costs of the character classes in a regular expression.

use std::convert::Infallible;

use regex_syntax::ast::{Ast, ClassPerl, ClassPerlKind, ClassSetItem, Flag, Flags, Visitor};

/// Maximum number of Unicode classes, such as `\pL` and `\w`, in one expression.
pub(super) const CLASSES: u64 = 20;
/// Maximum number of Unicode classes in all expressions of a schema.
pub(super) const ALL_CLASSES: u64 = 500;
/// Cost of a Unicode class. Small classes such as `\d` cost 1.
pub(super) const CLASS: u64 = 20;
/// Cost of a class that contains most characters if letter case is ignored, because every character
/// has to be looked up.
const FOLDED_CLASS: u64 = CLASSES * CLASS;
/// Number of characters that together cost 1 if letter case is ignored.
const LOOKED_UP: u64 = 125;

/// Sums up the costs of an expression's character classes.
#[derive(Default)]
pub(super) struct Costs {
    /// Total cost of classes with a limited size.
    small: u64,
    /// Number of classes that might contain most characters.
    wide: u64,
    /// Number of characters in all ranges.
    ranged: u64,
    /// Nesting depth of bracketed classes. Each enclosing class expands the characters again.
    depth: u64,
    ignores_case: bool,
}

/// The cost of an expression's character classes.
pub(super) struct Cost {
    /// Cost without case folding. Limited per expression.
    pub(super) plain: u64,
    /// Full cost. Limited per schema.
    pub(super) full: u64,
}

impl Costs {
    fn add_perl(&mut self, class: &ClassPerl, is_inside: bool) {
        match class.kind {
            _ if class.negated && is_inside => self.wide += 1 + self.depth,
            ClassPerlKind::Word => self.small += CLASS * (1 + self.depth),
            ClassPerlKind::Digit | ClassPerlKind::Space => self.small += 1 + self.depth,
        }
    }

    fn add_flags(&mut self, flags: &Flags) {
        self.ignores_case |= flags.flag_state(Flag::CaseInsensitive) == Some(true);
    }
}

impl Visitor for Costs {
    type Output = Cost;
    type Err = Infallible;

    fn finish(self) -> Result<Cost, Infallible> {
        let plain = self.wide.saturating_mul(CLASS).saturating_add(self.small);
        if !self.ignores_case {
            return Ok(Cost { plain, full: plain });
        }
        let folded = self.wide.saturating_mul(FOLDED_CLASS).saturating_add(self.small);
        Ok(Cost { plain, full: folded.saturating_add(self.ranged / LOOKED_UP) })
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        match ast {
            Ast::ClassUnicode(class) if class.is_negated() => self.wide += 1,
            Ast::ClassUnicode(_) => self.small += CLASS,
            Ast::ClassPerl(class) => self.add_perl(class, false),
            Ast::Flags(set) => self.add_flags(&set.flags),
            Ast::Group(group) => group.flags().into_iter().for_each(|flags| self.add_flags(flags)),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        let times = 1 + self.depth;
        match item {
            ClassSetItem::Unicode(class) if class.is_negated() => self.wide += times,
            ClassSetItem::Unicode(_) => self.small += CLASS * times,
            ClassSetItem::Perl(class) => self.add_perl(class, true),
            ClassSetItem::Ascii(class) if class.negated => self.wide += times,
            ClassSetItem::Bracketed(class) => {
                self.wide += if class.negated { times } else { 0 };
                self.depth += 1;
            }
            ClassSetItem::Range(range) => {
                let (first, last) = (u32::from(range.start.c), u32::from(range.end.c));
                // Looking up characters after the last one with a letter case costs almost nothing,
                // so a range doesn't cost more than a class that contains most characters.
                let count = u64::from(last.saturating_sub(first)).min(FOLDED_CLASS * LOOKED_UP);
                self.ranged += count * times;
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_post(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        if matches!(item, ClassSetItem::Bracketed(_)) {
            self.depth -= 1;
        }
        Ok(())
    }
}
