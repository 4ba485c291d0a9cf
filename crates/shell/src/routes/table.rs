//! The operations table, used for canonical paths, log redaction and allowed methods.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use actix_web::HttpRequest;
use actix_web::http::Method;

use super::operation::{Operation, Segment};
use super::register::{Routes, describe};
use super::tree::Tree;

const DOCUMENT: &str = "/openapi.json";
/// Swagger UI's path prefix.
const DOCS: &str = "/docs/";
/// Replaces unknown path segments in the access log.
const HIDDEN: &str = "{hidden}";

/// Maximum number of segments of an unknown path to show in the access log. Without a limit, a path
/// with thousands of segments would become even longer in the log, since [`HIDDEN`] is longer than
/// most segments.
const MOST_SHOWN: usize = 32;

/// Rules for treating different spellings of a path as equivalent. [`Operations::canonical`]
/// returns the documented spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRules {
    /// Whether literal segments are matched case-insensitively. Parameters always keep their case.
    pub ignore_case: bool,
    /// How trailing slashes are handled.
    pub trailing_slash: TrailingSlash,
    /// The value to substitute for an empty parameter, which the router wouldn't match. If `None`,
    /// paths with an empty parameter aren't found.
    pub empty_parameter: Option<&'static str>,
}

/// How trailing slashes are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrailingSlash {
    /// Trailing slashes are part of the path.
    Kept,
    /// All trailing slashes are dropped, even from unknown paths. The only exception is `/docs/`.
    Dropped,
    /// A single trailing slash is dropped if the operation's path ends in a literal segment.
    OneDropped,
}

impl PathRules {
    /// Matches paths exactly as documented.
    pub const EXACT: Self =
        Self { ignore_case: false, trailing_slash: TrailingSlash::Kept, empty_parameter: None };
    /// Drops trailing slashes and is otherwise exact.
    pub const NO_TRAILING_SLASH: Self =
        Self { trailing_slash: TrailingSlash::Dropped, ..Self::EXACT };
}

impl Default for PathRules {
    fn default() -> Self {
        Self::EXACT
    }
}

/// A service's operations, in registration order.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    operations: Vec<Operation>,
    tree: Tree,
    rules: PathRules,
    docs: bool,
}

static NONE: LazyLock<Arc<Operations>> = LazyLock::new(Arc::default);

/// Returns the operations of the service handling `request`.
///
/// ```
/// use actix_web::test::TestRequest;
///
/// let request = TestRequest::default().to_http_request();
/// assert!(shell::operations(&request).find("/rows").is_none());
/// ```
pub fn operations(request: &HttpRequest) -> &Operations {
    request.app_data::<Arc<Operations>>().unwrap_or(&NONE)
}

impl Operations {
    /// Collects the operations that `register` adds.
    ///
    /// See [`Routes`] for an example.
    pub fn of(register: impl FnOnce(&mut Routes<'_>)) -> Self {
        let mut operations = describe(register).operations;
        operations.retain(|operation| !operation.template.is_empty());
        let tree = Tree::of(&operations);
        Self { operations, tree, rules: PathRules::EXACT, docs: false }
    }

    /// Sets the rules for equivalent paths.
    ///
    /// ```
    /// use shell::{Operations, PathRules};
    /// # use actix_web::get;
    /// # #[utoipa::path(responses((status = 200)))]
    /// # #[get("/Rows")]
    /// # async fn rows() -> &'static str { "" }
    /// # fn routes(routes: &mut shell::Routes<'_>) { routes.add(rows); }
    ///
    /// let rules = PathRules { ignore_case: true, ..PathRules::NO_TRAILING_SLASH };
    /// let operations = Operations::of(routes).with(rules);
    /// assert_eq!(operations.canonical("/rows/").as_deref(), Some("/Rows"));
    /// assert_eq!(operations.canonical("/Rows"), None);
    /// ```
    #[must_use]
    pub fn with(self, rules: PathRules) -> Self {
        Self { rules, ..self }
    }

    /// Sets whether the OpenAPI document and Swagger UI are served.
    #[must_use]
    pub(crate) fn with_docs(self, docs: bool) -> Self {
        Self { docs, ..self }
    }

    /// Returns all operations, in registration order.
    pub fn iter(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter()
    }

    /// Returns the first operation at `path`, regardless of its methods.
    pub fn find(&self, path: &str) -> Option<&Operation> {
        self.locate(path).map(|(operation, _)| operation)
    }

    /// Returns whether `path` is the OpenAPI document or part of Swagger UI.
    ///
    /// ```
    /// let operations = shell::Operations::default();
    /// assert!(operations.is_documentation("/docs/index.html"));
    /// assert!(!operations.is_documentation("/documents"));
    /// ```
    pub fn is_documentation(&self, path: &str) -> bool {
        let document = match self.rules.trailing_slash {
            TrailingSlash::Kept => path,
            TrailingSlash::Dropped => path.trim_end_matches('/'),
            TrailingSlash::OneDropped => path.strip_suffix('/').unwrap_or(path),
        };
        document == DOCUMENT || path == "/docs" || path.starts_with(DOCS)
    }

    /// Returns the canonical form of `path`, or `None` if `path` is already canonical.
    ///
    /// Literal segments get their documented case, while parameters stay as sent.
    pub fn canonical(&self, path: &str) -> Option<String> {
        let rules = self.rules;
        if rules == PathRules::EXACT || (path.ends_with('/') && self.is_template(path)) {
            return None;
        }
        match self.locate(path) {
            Some((operation, known)) => {
                let spelling = known.len() == path.len() && is_spelled(operation, path, false);
                (!spelling).then(|| spelled(operation, known, rules))
            }
            None => {
                let other = self.other(path, rules)?;
                (other != path).then(|| other.into_owned())
            }
        }
    }

    /// Redacts `path` for the access log, by replacing it with its operation's template. If no
    /// operation matches, only the first segments are kept, and segments that don't occur in any
    /// operation are hidden.
    pub fn redact(&self, path: &str) -> Cow<'_, str> {
        match self.locate(path) {
            Some((operation, _)) => Cow::Borrowed(operation.template()),
            None => {
                let parts = path.split('/').take(MOST_SHOWN);
                Cow::Owned(joined(parts.map(|part| Cow::Borrowed(self.known_word(part)))))
            }
        }
    }

    /// Returns the methods allowed at `path`, or an empty list if it has no route.
    pub(crate) fn methods_of(&self, path: &str) -> Vec<Method> {
        if self.docs && (path == DOCUMENT || path.starts_with(DOCS)) {
            return vec![Method::GET, Method::HEAD];
        }
        let mut places = Vec::new();
        self.tree.first(path, false, &mut |place| {
            places.push(place);
            false
        });
        places.sort_unstable();
        let operations = places.iter().map(|place| &self.operations[*place]);
        let spelled = operations.filter(|operation| is_spelled(operation, path, false));
        let mut found = Vec::new();
        for method in spelled.flat_map(Operation::methods) {
            if !found.contains(method) {
                found.push(method.clone());
            }
        }
        found
    }

    /// Returns the methods of all operations.
    pub(crate) fn methods(&self) -> Vec<Method> {
        let mut found = vec![Method::GET, Method::HEAD];
        for method in self.operations.iter().flat_map(|operation| &operation.methods) {
            if !found.contains(method) {
                found.push(method.clone());
            }
        }
        found
    }

    /// Returns whether `path` is exactly the path of an operation without parameters.
    fn is_template(&self, path: &str) -> bool {
        self.operations
            .iter()
            .any(|operation| operation.template == path && !operation.has_parameters())
    }

    /// Returns the operation at `path`, along with `path` stripped of ignored trailing slashes.
    fn locate<'p>(&self, path: &'p str) -> Option<(&Operation, &'p str)> {
        let rules = self.rules;
        let trimmed = match rules.trailing_slash {
            TrailingSlash::Dropped if path.len() > 1 => path.trim_end_matches('/'),
            _ => path,
        };
        if let Some(operation) = self.fitting(trimmed, |_| true) {
            return Some((operation, trimmed));
        }
        let TrailingSlash::OneDropped = rules.trailing_slash else { return None };
        let trimmed = path.strip_suffix('/').filter(|rest| !rest.is_empty())?;
        let ends_in_literal =
            |operation: &Operation| matches!(operation.segments.last(), Some(Segment::Literal(_)));
        Some((self.fitting(trimmed, ends_in_literal)?, trimmed))
    }

    /// Returns the first operation that matches exactly `path` and that `accepted` approves.
    fn fitting(&self, path: &str, accepted: impl Fn(&Operation) -> bool) -> Option<&Operation> {
        let rules = self.rules;
        let empty = rules.empty_parameter.is_some();
        let place = self.tree.first(path, empty, &mut |place| {
            let operation = &self.operations[place];
            (rules.ignore_case || is_spelled(operation, path, empty)) && accepted(operation)
        })?;
        self.operations.get(place)
    }

    /// Returns the canonical spelling of a path that doesn't belong to an operation.
    fn other<'p>(&self, path: &'p str, rules: PathRules) -> Option<Cow<'p, str>> {
        let docs = path.get(..DOCS.len()).is_some_and(|start| match rules.ignore_case {
            true => start.eq_ignore_ascii_case(DOCS),
            false => start == DOCS,
        });
        if docs {
            // Swagger UI's file names are all lowercase.
            let lower = || Cow::Owned(path.to_ascii_lowercase());
            return Some(if rules.ignore_case { lower() } else { Cow::Borrowed(path) });
        }
        let trimmed = match rules.trailing_slash {
            TrailingSlash::Kept => path,
            TrailingSlash::Dropped => path.trim_end_matches('/'),
            TrailingSlash::OneDropped => path.strip_suffix('/').unwrap_or(path),
        };
        for known in [DOCUMENT, "/docs"] {
            if trimmed == known || (rules.ignore_case && trimmed.eq_ignore_ascii_case(known)) {
                return Some(Cow::Borrowed(known));
            }
        }
        let dropped = rules.trailing_slash == TrailingSlash::Dropped && !trimmed.is_empty();
        dropped.then_some(Cow::Borrowed(trimmed))
    }

    /// Returns the segment if it occurs in some operation, and [`HIDDEN`] otherwise.
    fn known_word(&self, part: &str) -> &str {
        let literals = self.operations.iter().flat_map(|operation| &operation.segments);
        let literals = literals.filter_map(|segment| match segment {
            Segment::Literal(word) => Some(word.as_str()),
            Segment::Parameter(_) => None,
        });
        let mut words = literals.chain(["", "docs", "openapi.json"]);
        words.find(|word| word.eq_ignore_ascii_case(part)).unwrap_or(HIDDEN)
    }
}

/// Returns whether all literal segments of `path` have their documented case. Empty parameters are
/// only allowed if `empty` is true.
fn is_spelled(operation: &Operation, path: &str, empty: bool) -> bool {
    if operation.template == path {
        return true; // Most paths have no parameters.
    }
    let mut parts = operation.template.split('/').zip(path.split('/'));
    parts.all(|(known, part)| match Segment::is_parameter(known) {
        true => empty || !part.is_empty(),
        false => known == part,
    })
}

/// Returns `path` in its documented spelling.
fn spelled(operation: &Operation, path: &str, rules: PathRules) -> String {
    let parts = operation.template.split('/').zip(path.split('/'));
    joined(parts.map(|(known, part)| {
        Cow::Borrowed(match part {
            _ if !Segment::is_parameter(known) => known,
            "" => rules.empty_parameter.unwrap_or_default(),
            part => part,
        })
    }))
}

fn joined<'p>(parts: impl Iterator<Item = Cow<'p, str>>) -> String {
    const USUAL_LENGTH: usize = 96;
    let mut path = String::with_capacity(USUAL_LENGTH);
    for (at, part) in parts.enumerate() {
        if at > 0 {
            path.push('/');
        }
        path.push_str(&part);
    }
    path
}
