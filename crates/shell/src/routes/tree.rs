//! The parts of all paths as a tree, so that a path is compared with those alone that begin like it.

use super::operation::{Operation, Segment};

/// What is known of the paths that begin in one way.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// What follows a word, in lower case.
    words: Vec<(String, Tree)>,
    /// What follows a parameter.
    parameter: Option<Box<Tree>>,
    /// The places of the operations whose path ends here, in the order in which they were added.
    ends: Vec<usize>,
}

impl Tree {
    /// The tree of some operations, which are known by their places.
    pub(super) fn of(operations: &[Operation]) -> Self {
        let mut tree = Self::default();
        for (place, operation) in operations.iter().enumerate() {
            let end = operation.segments.iter().fold(&mut tree, Self::enter);
            end.ends.push(place);
        }
        tree
    }

    fn enter(&mut self, segment: &Segment) -> &mut Self {
        let Segment::Literal(word) = segment else {
            return self.parameter.get_or_insert_default();
        };
        let word = word.to_ascii_lowercase();
        let known = self.words.iter().position(|(known, _)| *known == word);
        let at = known.unwrap_or_else(|| {
            self.words.push((word, Self::default()));
            self.words.len() - 1
        });
        &mut self.words[at].1
    }

    /// The first place, literals before parameters, whose operation has these parts in any letter
    /// case, and which is accepted.
    ///
    /// An empty part stands for a parameter only if `empty` says so.
    pub(super) fn first(
        &self,
        path: &str,
        empty: bool,
        accepted: &mut impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        // Parts are short: a search for the slash by words of the processor would cost more.
        let end = path.bytes().position(|byte| byte == b'/').unwrap_or(path.len());
        let (part, rest) = path.split_at(end);
        let rest = rest.strip_prefix('/');
        let word = self.words.iter().find(|(word, _)| word.eq_ignore_ascii_case(part));
        let parameter = self.parameter.as_deref().filter(|_| empty || !part.is_empty());
        let mut next = word.map(|(_, next)| next).into_iter().chain(parameter);
        next.find_map(|next| match rest {
            Some(rest) => next.first(rest, empty, accepted),
            None => next.ends.iter().copied().find(|place| accepted(*place)),
        })
    }
}
