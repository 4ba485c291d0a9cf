//! A trie of path segments.

use super::operation::{Operation, Segment};

/// A trie node, which represents all paths with the same prefix.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// Child nodes for literal segments, with their segments in lowercase.
    words: Vec<(String, Tree)>,
    /// The child node for a parameter.
    parameter: Option<Box<Tree>>,
    /// Indexes of the operations whose paths end here, in registration order.
    ends: Vec<usize>,
}

impl Tree {
    /// Builds a trie that maps paths to indexes into `operations`.
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

    /// Returns the index of the first operation that matches `path` and that `accepted` approves.
    /// Case is ignored, and literal segments take precedence over parameters.
    ///
    /// Parameters only match an empty segment if `empty` is true.
    pub(super) fn first(
        &self,
        path: &str,
        empty: bool,
        accepted: &mut impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        // Segments are short enough that a plain loop beats a vectorized search.
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
