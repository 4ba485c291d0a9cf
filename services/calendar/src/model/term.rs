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
    /// Its id.
    pub id: i64,
    /// Whether it is a category or a tag.
    pub taxonomy: Taxonomy,
    /// The name.
    pub name: String,
    /// The slug.
    pub slug: String,
    /// The description, HTML.
    pub description: String,
    /// Id of the parent; 0 at the root.
    pub parent: i64,
    /// Number of published events.
    pub count: i64,
}

/// A term as an event write or a filter names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermRef {
    /// One that exists.
    Id(i64),
    /// A slug or a name.
    Text(String),
}

/// What a write says about a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermChange {
    /// The name.
    pub name: Option<String>,
    /// The description, HTML.
    pub description: Option<String>,
    /// The slug.
    pub slug: Option<String>,
    /// Id of the parent; 0 at the root.
    pub parent: Option<i64>,
}
