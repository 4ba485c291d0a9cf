//! Trigrams that are necessary for a match.

use std::collections::BTreeSet;

use super::tokenizer::LENGTH;

/// A text of symbols.
pub(super) type Text = Vec<u8>;
/// A set of alternative texts.
pub(super) type Texts = BTreeSet<Text>;

/// A condition on the trigrams of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// Always true.
    Nothing,
    /// A trigram.
    Gram([u8; LENGTH]),
    /// All of these.
    All(BTreeSet<Self>),
    /// At least one of these; false if empty.
    Any(BTreeSet<Self>),
}

impl Need {
    /// Both conditions.
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

    /// Either condition.
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

    /// The condition for containing one of some texts.
    pub(super) fn of(texts: &Texts) -> Self {
        let grams = |text: &Text| {
            let gram = |gram: &[u8]| Self::Gram([gram[0], gram[1], gram[2]]);
            text.windows(LENGTH).map(gram).fold(Self::Nothing, Self::and)
        };
        texts.iter().map(grams).reduce(Self::or).unwrap_or(Self::Any(BTreeSet::new()))
    }

    /// The number of trigrams.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Gram(_) => 1,
            Self::All(needs) | Self::Any(needs) => needs.iter().map(Self::size).sum(),
        }
    }
}
