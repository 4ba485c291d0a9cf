//! Categories and tags.

/// The kinds of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Taxonomy {
    /// Categories. They can have parents.
    Category,
    /// Tags.
    Tag,
}

impl Taxonomy {
    /// Returns the taxonomy's database code.
    pub fn code(self) -> i32 {
        match self {
            Taxonomy::Category => 1,
            Taxonomy::Tag => 2,
        }
    }

    /// Returns the taxonomy's name in responses.
    pub fn name(self) -> &'static str {
        match self {
            Taxonomy::Category => "tribe_events_cat",
            Taxonomy::Tag => "post_tag",
        }
    }

    /// Returns the singular noun for a term.
    pub fn word(self) -> &'static str {
        match self {
            Taxonomy::Category => "category",
            Taxonomy::Tag => "tag",
        }
    }

    /// Returns the collection name used in paths and envelopes.
    pub fn collection(self) -> &'static str {
        match self {
            Taxonomy::Category => "categories",
            Taxonomy::Tag => "tags",
        }
    }
}

/// A category or tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The id, unique among terms.
    pub id: i64,
    /// Whether this is a category or a tag.
    pub taxonomy: Taxonomy,
    /// The name as plain text.
    pub name: String,
    /// The slug.
    pub slug: String,
    /// The description as HTML.
    pub description: String,
    /// Id of the parent, or 0 at the top level.
    pub parent: i64,
    /// Number of published events with this term.
    pub count: i64,
}

impl Term {
    /// Returns the name on a single line, for use in feeds.
    pub fn line(&self) -> String {
        self.name.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A term in an event write or a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermRef {
    /// The id of an existing term.
    Id(i64),
    /// A term's slug, or its name as HTML.
    Text(String),
}

/// The fields of a term write. Fields that are `None` keep their value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermChange {
    /// The name.
    pub name: Option<String>,
    /// The description as HTML.
    pub description: Option<String>,
    /// The slug.
    pub slug: Option<String>,
    /// Id of the parent, or 0 for the top level.
    pub parent: Option<i64>,
}
