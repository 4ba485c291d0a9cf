//! Conditions on the trigrams that a match must contain.

use std::collections::BTreeSet;

use super::tokenizer::LENGTH;

/// A string, as symbols.
pub(super) type Text = Vec<u8>;
/// Alternative strings.
pub(super) type Texts = BTreeSet<Text>;

/// A condition on a name's trigrams.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// Always true.
    Nothing,
    /// True if the name contains this trigram.
    Gram([u8; LENGTH]),
    /// True if all of these conditions hold.
    All(BTreeSet<Self>),
    /// True if any of these conditions holds. An empty set is never true.
    Any(BTreeSet<Self>),
}

impl Need {
    /// Combines two conditions that must both hold.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, need) | (need, Self::Nothing) => need,
            (Self::All(mut needs), Self::All(more)) => {
                needs.extend(more);
                Self::All(needs)
            }
            (Self::All(mut needs), one) | (one, Self::All(mut needs)) => {
                needs.insert(one);
                Self::All(needs)
            }
            (one, other) if one == other => one,
            (one, other) => Self::All([one, other].into()),
        }
    }

    /// Combines two conditions, at least one of which must hold.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::Any(mut needs), Self::Any(more)) => {
                needs.extend(more);
                Self::Any(needs)
            }
            (Self::Any(mut needs), one) | (one, Self::Any(mut needs)) => {
                needs.insert(one);
                Self::Any(needs)
            }
            (one, other) if one == other => one,
            (one, other) => Self::Any([one, other].into()),
        }
    }

    /// Returns the condition for names that contain at least one of these strings.
    pub(super) fn of(texts: &Texts) -> Self {
        let grams = |text: &Text| {
            let gram = |gram: &[u8]| Self::Gram([gram[0], gram[1], gram[2]]);
            text.windows(LENGTH).map(gram).fold(Self::Nothing, Self::and)
        };
        texts.iter().map(grams).reduce(Self::or).unwrap_or(Self::Any(BTreeSet::new()))
    }

    /// Returns the number of trigrams in the condition.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Gram(_) => 1,
            Self::All(needs) | Self::Any(needs) => needs.iter().map(Self::size).sum(),
        }
    }
}
