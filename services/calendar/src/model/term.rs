//! Categories and tags.

/// The two taxonomies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Taxonomy {
    /// Categories, which have parents.
    Category,
    /// Tags.
    Tag,
}

impl Taxonomy {
    /// Returns the database code of the taxonomy.
    pub fn code(self) -> i32 {
        match self {
            Taxonomy::Category => 1,
            Taxonomy::Tag => 2,
        }
    }

    /// Returns the taxonomy name in responses.
    pub fn name(self) -> &'static str {
        match self {
            Taxonomy::Category => "tribe_events_cat",
            Taxonomy::Tag => "post_tag",
        }
    }

    /// Returns the singular word for a term of the taxonomy.
    pub fn word(self) -> &'static str {
        match self {
            Taxonomy::Category => "category",
            Taxonomy::Tag => "tag",
        }
    }

    /// Returns the collection name in paths and envelopes.
    pub fn collection(self) -> &'static str {
        match self {
            Taxonomy::Category => "categories",
            Taxonomy::Tag => "tags",
        }
    }
}

/// A category or a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The id, which is unique among terms.
    pub id: i64,
    /// Whether it is a category or a tag.
    pub taxonomy: Taxonomy,
    /// The name.
    pub name: String,
    /// The slug.
    pub slug: String,
    /// The description, as HTML.
    pub description: String,
    /// Id of the parent; 0 at the root.
    pub parent: i64,
    /// Number of published events with the term.
    pub count: i64,
}

/// A term in an event write or a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermRef {
    /// The id of an existing term.
    Id(i64),
    /// The slug or the name of a term.
    Text(String),
}

/// The fields of a term write. A field that is `None` keeps its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermChange {
    /// The name.
    pub name: Option<String>,
    /// The description, as HTML.
    pub description: Option<String>,
    /// The slug.
    pub slug: Option<String>,
    /// Id of the parent; 0 at the root.
    pub parent: Option<i64>,
}
