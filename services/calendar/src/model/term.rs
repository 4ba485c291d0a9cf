//! Categories and tags.

/// The two taxonomies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Taxonomy {
    Category,
    Tag,
}

impl Taxonomy {
    /// Returns the number by which the database knows it.
    pub fn code(self) -> i32 {
        match self {
            Taxonomy::Category => 1,
            Taxonomy::Tag => 2,
        }
    }

    /// Returns the name that answers carry.
    pub fn name(self) -> &'static str {
        match self {
            Taxonomy::Category => "tribe_events_cat",
            Taxonomy::Tag => "post_tag",
        }
    }

    /// Returns the word for one of them.
    pub fn word(self) -> &'static str {
        match self {
            Taxonomy::Category => "category",
            Taxonomy::Tag => "tag",
        }
    }

    /// Returns the collection in paths and envelopes.
    pub fn collection(self) -> &'static str {
        match self {
            Taxonomy::Category => "categories",
            Taxonomy::Tag => "tags",
        }
    }
}

/// A category or a tag; `parent` is 0 at the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub id: i64,
    pub taxonomy: Taxonomy,
    pub name: String,
    pub slug: String,
    pub description: String,
    pub parent: i64,
    pub count: i64,
}

/// A term as an event write or a filter names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermRef {
    Id(i64),
    Text(String),
}

/// What a write says about a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermChange {
    pub name: Option<String>,
    pub description: Option<String>,
    pub slug: Option<String>,
    pub parent: Option<i64>,
}
