//! The table of operations and what follows from it.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use actix_web::HttpRequest;
use actix_web::http::{Method, Uri};

use super::operation::{Operation, Segment};
use super::register::{Routes, describe};
use crate::redact::redact_query;

/// Where the document of the API is.
const DOCUMENT: &str = "/openapi.json";
/// Where the pages of the document begin.
const DOCS: &str = "/docs/";
/// What the access log shows of a part that may hold anything.
const HIDDEN: &str = "{hidden}";

/// Which spellings of a path are the same; [`Operations::canonical`] gives the documented one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRules {
    /// Whether the letter case of literals counts; parameters keep theirs.
    pub ignore_case: bool,
    /// What becomes of slashes at the end.
    pub trailing_slash: TrailingSlash,
    /// What stands for an empty parameter, which routers do not know; without it such a path is
    /// none of the service.
    pub empty_parameter: Option<&'static str>,
}

/// What becomes of slashes at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrailingSlash {
    /// They make another path.
    Kept,
    /// All of them are dropped, whether the path is known or not; `/docs/` keeps its own.
    Dropped,
    /// One is dropped behind an operation that ends in a literal.
    OneDropped,
}

impl PathRules {
    /// Every path as it is.
    pub const EXACT: Self =
        Self { ignore_case: false, trailing_slash: TrailingSlash::Kept, empty_parameter: None };
    /// Slashes at the end are dropped.
    pub const NO_TRAILING_SLASH: Self =
        Self { trailing_slash: TrailingSlash::Dropped, ..Self::EXACT };
}

impl Default for PathRules {
    fn default() -> Self {
        Self::EXACT
    }
}

/// The operations of a service, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    operations: Vec<Operation>,
    /// Places of operations, literals before parameters: the first one that fits is meant.
    order: Vec<usize>,
    rules: PathRules,
    docs: bool,
}

static NONE: LazyLock<Arc<Operations>> = LazyLock::new(Arc::default);

/// The operations of the service that a request reached.
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
    /// The operations that a function adds.
    ///
    /// See [`Routes`] for an example.
    pub fn of(register: impl FnOnce(&mut Routes<'_>)) -> Self {
        let mut operations = describe(register).operations;
        operations.retain(|operation| !operation.template.is_empty());
        let mut order: Vec<usize> = (0..operations.len()).collect();
        order.sort_by(|one, other| {
            let kinds = |at: usize| {
                operations[at].segments.iter().map(|part| matches!(part, Segment::Parameter(_)))
            };
            kinds(*one).cmp(kinds(*other))
        });
        Self { operations, order, rules: PathRules::EXACT, docs: false }
    }

    /// The same operations under the rules of a service.
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

    /// The same operations with the document and its pages.
    #[must_use]
    pub(crate) fn with_docs(self, docs: bool) -> Self {
        Self { docs, ..self }
    }

    /// Every operation, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter()
    }

    /// The operation at a path, whatever its methods; of several with one path the first.
    pub fn find(&self, path: &str) -> Option<&Operation> {
        self.locate(path).map(|(operation, _)| operation)
    }

    /// Whether a path is the document or one of its pages, as they are spelled.
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

    /// The path that routes know, where it differs.
    ///
    /// Literals get their documented case, parameters keep their bytes.
    pub fn canonical(&self, path: &str) -> Option<String> {
        let rules = self.rules;
        if rules == PathRules::EXACT || self.is_template(path) {
            return None;
        }
        let canonical = match self.locate(path) {
            Some((operation, known)) if known == path && is_spelled(operation, path) => {
                return None;
            }
            Some((operation, path)) => Cow::Owned(spelled(operation, path, rules)),
            None => self.other(path, rules)?,
        };
        (canonical != path).then(|| canonical.into_owned())
    }

    /// A path as the access log may show it: parameters as `{name}` unless they may be shown; of an
    /// unknown path only the words that the operations know.
    pub fn redact(&self, path: &str) -> String {
        match self.locate(path) {
            Some((operation, path)) => {
                let parts = operation.segments.iter().zip(path.split('/'));
                let parts = parts.map(|(segment, part)| match segment {
                    Segment::Literal(word) => Cow::Borrowed(word.as_str()),
                    Segment::Parameter(name) if operation.shown.iter().any(|it| it == name) => {
                        Cow::Borrowed(harmless(part))
                    }
                    Segment::Parameter(name) => Cow::Owned(format!("{{{name}}}")),
                });
                joined(parts)
            }
            None => joined(path.split('/').map(|part| Cow::Borrowed(self.known_word(part)))),
        }
    }

    /// A request target as the access log may show it: values of query parameters that no operation
    /// has, and those of secrets, become `***`.
    ///
    /// ```
    /// # use actix_web::get;
    /// # #[utoipa::path(params(("page" = u8, Query), ("token" = String, Query)), responses((status = 200)))]
    /// # #[get("/rows")]
    /// # async fn rows() -> &'static str { "" }
    /// # fn routes(routes: &mut shell::Routes<'_>) { routes.add(rows); }
    /// let operations = shell::Operations::of(routes);
    /// let target = "/rows?page=2&token=abc&x=y".parse().unwrap();
    /// assert_eq!(operations.redact_query(&target, &["token"]), "/rows?page=2&token=***&x=***");
    /// ```
    pub fn redact_query<'u>(&self, uri: &'u Uri, secrets: &[&str]) -> Cow<'u, str> {
        redact_query(uri, |name| {
            let known = |operation: &Operation| operation.query.iter().any(|known| known == name);
            !secrets.contains(&name) && self.operations.iter().any(known)
        })
    }

    /// The methods that `path` has; empty when no route has it.
    pub(crate) fn methods_of(&self, path: &str) -> Vec<Method> {
        if self.docs && (path == DOCUMENT || path.starts_with(DOCS)) {
            return vec![Method::GET, Method::HEAD];
        }
        let mut found = Vec::new();
        for operation in fitting(self.operations.iter(), path, PathRules::EXACT) {
            let new = operation.methods.iter().filter(|method| !found.contains(*method));
            let new: Vec<Method> = new.cloned().collect();
            found.extend(new);
        }
        found
    }

    /// Every method that some operation has.
    pub(crate) fn methods(&self) -> Vec<Method> {
        let mut found = vec![Method::GET, Method::HEAD];
        for method in self.operations.iter().flat_map(|operation| &operation.methods) {
            if !found.contains(method) {
                found.push(method.clone());
            }
        }
        found
    }

    /// Whether a path is spelled as documented and has no parameters.
    fn is_template(&self, path: &str) -> bool {
        self.operations
            .iter()
            .any(|operation| operation.template == path && !operation.has_parameters())
    }

    /// The operation at a path, and the path without the slashes that do not count.
    fn locate<'p>(&self, path: &'p str) -> Option<(&Operation, &'p str)> {
        let rules = self.rules;
        let ordered = || self.order.iter().map(|at| &self.operations[*at]);
        let trimmed = match rules.trailing_slash {
            TrailingSlash::Dropped if path.len() > 1 => path.trim_end_matches('/'),
            _ => path,
        };
        if let Some(operation) = fitting(ordered(), trimmed, rules).next() {
            return Some((operation, trimmed));
        }
        let TrailingSlash::OneDropped = rules.trailing_slash else { return None };
        let trimmed = path.strip_suffix('/').filter(|rest| !rest.is_empty())?;
        let ends_in_literal =
            |operation: &&Operation| matches!(operation.segments.last(), Some(Segment::Literal(_)));
        let ending = ordered().filter(ends_in_literal);
        let operation = fitting(ending, trimmed, rules).next()?;
        Some((operation, trimmed))
    }

    /// The canonical spelling of a path that is no operation.
    fn other<'p>(&self, path: &'p str, rules: PathRules) -> Option<Cow<'p, str>> {
        let docs = path.get(..DOCS.len()).is_some_and(|start| match rules.ignore_case {
            true => start.eq_ignore_ascii_case(DOCS),
            false => start == DOCS,
        });
        if docs {
            // The names of all its files are in lower case.
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

    /// A part of an unknown path, if it is a word of an operation.
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

/// Those of some operations that a path is one of. Most differ in the number of parts; the parts are
/// compared from the end, since all begin alike.
fn fitting<'o>(
    operations: impl Iterator<Item = &'o Operation>,
    path: &str,
    rules: PathRules,
) -> impl Iterator<Item = &'o Operation> {
    let number = path.split('/').count();
    let fits = move |operation: &&Operation| {
        let mut parts = operation.segments.iter().rev().zip(path.rsplit('/'));
        operation.segments.len() == number
            && parts.all(|(segment, part)| match segment {
                Segment::Literal(word) if rules.ignore_case => word.eq_ignore_ascii_case(part),
                Segment::Literal(word) => word == part,
                Segment::Parameter(_) => !part.is_empty() || rules.empty_parameter.is_some(),
            })
    };
    operations.filter(fits)
}

/// Whether a path of an operation is in its spelling already.
fn is_spelled(operation: &Operation, path: &str) -> bool {
    let mut parts = operation.segments.iter().zip(path.split('/'));
    parts.all(|(segment, part)| match segment {
        Segment::Literal(word) => word == part,
        Segment::Parameter(_) => !part.is_empty(),
    })
}

/// A path in the spelling of its operation.
fn spelled(operation: &Operation, path: &str, rules: PathRules) -> String {
    let parts = operation.segments.iter().zip(path.split('/'));
    joined(parts.map(|(segment, part)| {
        Cow::Borrowed(match (segment, part) {
            (Segment::Literal(word), _) => word.as_str(),
            (Segment::Parameter(_), "") => rules.empty_parameter.unwrap_or_default(),
            (Segment::Parameter(_), part) => part,
        })
    }))
}

fn joined<'p>(parts: impl Iterator<Item = Cow<'p, str>>) -> String {
    let mut path = String::new();
    for (at, part) in parts.enumerate() {
        if at > 0 {
            path.push('/');
        }
        path.push_str(&part);
    }
    path
}

/// A parameter that may be shown, unless a client put an address into it.
fn harmless(part: &str) -> &str {
    if part.contains(['@', '%']) { HIDDEN } else { part }
}
