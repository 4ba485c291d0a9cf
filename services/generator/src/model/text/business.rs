//! Business phrases for placeholder text.

/// A slot in a business sentence.
#[derive(Clone, Copy)]
pub enum Slot {
    /// A fixed word.
    Word(&'static str),
    /// A random word from a list.
    Any(&'static [&'static str]),
}

use Slot::{Any, Word as W};

const ADJECTIVES: &[&str] = &[
    "agile",
    "bold",
    "connected",
    "cross-functional",
    "customer-centric",
    "data-driven",
    "digital",
    "distributed",
    "dynamic",
    "efficient",
    "end-to-end",
    "flexible",
    "forward-looking",
    "global",
    "high-impact",
    "innovative",
    "integrated",
    "intuitive",
    "lean",
    "long-term",
    "mission-critical",
    "modular",
    "next-generation",
    "open",
    "proactive",
    "reliable",
    "resilient",
    "robust",
    "scalable",
    "seamless",
    "strategic",
    "sustainable",
    "transparent",
    "trusted",
    "user-friendly",
    "world-class",
];
const NOUNS: &[&str] = &[
    "alliances",
    "benchmarks",
    "budgets",
    "capabilities",
    "channels",
    "communities",
    "competencies",
    "customers",
    "deliverables",
    "ecosystems",
    "experiences",
    "forecasts",
    "frameworks",
    "goals",
    "ideas",
    "initiatives",
    "insights",
    "interfaces",
    "investments",
    "markets",
    "metrics",
    "milestones",
    "models",
    "networks",
    "opportunities",
    "outcomes",
    "partnerships",
    "platforms",
    "portfolios",
    "priorities",
    "processes",
    "products",
    "relationships",
    "resources",
    "roadmaps",
    "services",
    "solutions",
    "stakeholders",
    "strategies",
    "synergies",
    "teams",
    "technologies",
    "workflows",
];
const VERBS: &[&str] = &[
    "accelerate",
    "align",
    "build",
    "champion",
    "combine",
    "connect",
    "cultivate",
    "deliver",
    "deploy",
    "develop",
    "drive",
    "empower",
    "enable",
    "engage",
    "enhance",
    "evaluate",
    "expand",
    "extend",
    "grow",
    "implement",
    "improve",
    "integrate",
    "leverage",
    "maximise",
    "measure",
    "optimise",
    "orchestrate",
    "prioritise",
    "promote",
    "reinvent",
    "scale",
    "simplify",
    "strengthen",
    "transform",
    "unify",
    "unlock",
];
const ADVERBS: &[&str] = &[
    "actively",
    "boldly",
    "carefully",
    "consistently",
    "continuously",
    "efficiently",
    "globally",
    "jointly",
    "openly",
    "proactively",
    "quickly",
    "rapidly",
    "reliably",
    "seamlessly",
    "steadily",
    "strategically",
    "swiftly",
    "together",
];

const A: Slot = Any(ADJECTIVES);
const N: Slot = Any(NOUNS);
const V: Slot = Any(VERBS);
const D: Slot = Any(ADVERBS);

/// Business sentences of 6 to 14 words.
pub const BUSINESS: [&[Slot]; 12] = [
    &[W("we"), D, V, A, N, W("to"), V, A, N],
    &[W("our"), A, N, V, A, N, W("across"), W("all"), N],
    &[W("to"), V, A, N, W("our"), W("teams"), V, N, W("and"), V, N],
    &[A, N, D, V, N, W("for"), W("every"), W("customer")],
    &[W("leaders"), W("who"), V, N, D, V, A, N],
    &[
        W("it"),
        W("is"),
        W("time"),
        W("to"),
        V,
        A,
        N,
        W("and"),
        V,
        W("the"),
        N,
        W("that"),
        W("matter"),
    ],
    &[W("with"), A, N, W("we"), V, N, W("at"), W("every"), W("stage"), W("of"), W("growth")],
    &[W("by"), W("the"), W("end"), W("of"), W("the"), W("quarter"), A, N, W("will"), V, A, N],
    &[W("let"), W("us"), D, V, A, N],
    &[W("from"), N, W("to"), N, W("we"), V, W("what"), W("our"), N, W("need")],
    &[W("strong"), N, W("and"), A, N, V, W("the"), W("next"), W("generation"), W("of"), N],
    &[W("together"), W("with"), W("our"), N, W("we"), V, W("and"), V, A, N],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_need_no_escaping_and_sentences_have_their_length() {
        let plain = |word: &str| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        };
        for list in [ADJECTIVES, NOUNS, VERBS, ADVERBS] {
            assert!(list.iter().all(|word| plain(word)));
        }
        assert!(BUSINESS.iter().all(|sentence| (6..=14).contains(&sentence.len())));
    }
}
