//! Derives routes, methods and parameters from the API's operations, for the index and OPTIONS.

use shell::Operation;
use utoipa::openapi::path::Parameter;

use crate::model::urls::NAMESPACE;

/// A function that returns an operation's declared parameters.
pub type Parameters = fn() -> &'static [Parameter];

/// An operation's parameters, except for the path parameter.
#[derive(Clone, Copy, Debug)]
pub struct Takes {
    parameters: Parameters,
    renames: bool,
}

impl Takes {
    /// Wraps the query or body parameters of an operation.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters, renames: false }
    }

    /// Marks an update by slug that can also set a new slug. For these, the upstream API declares
    /// the path's slug parameter as optional.
    pub const fn renaming(self) -> Self {
        Self { renames: true, ..self }
    }
}

/// A path parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Id,
    Slug,
    /// See [`Takes::renaming`].
    OptionalSlug,
}

/// The placeholders in path templates, with their keys and the regular expressions shown in the
/// index.
const KEYS: [(&str, Key, &str); 2] =
    [("{id}", Key::Id, r"(?P<id>\d+)"), ("{slug}", Key::Slug, "(?P<slug>[^/]+)")];

/// A route's methods that share the same parameters.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub methods: Vec<String>,
    /// The path parameter, if any.
    pub key: Option<Key>,
    pub parameters: Parameters,
    /// True if only the key is required, as in updates.
    pub partial: bool,
}

/// A route and its pattern as shown in the index.
#[derive(Clone, Debug)]
pub struct Route {
    pub pattern: String,
    pub endpoints: Vec<Endpoint>,
}

impl Route {
    /// Returns all methods of the route.
    pub fn methods(&self) -> Vec<&str> {
        self.endpoints.iter().flat_map(|endpoint| &endpoint.methods).map(String::as_str).collect()
    }

    fn add(&mut self, operation: &Operation, key: Option<Key>) {
        // HEAD isn't listed, because it is the same as GET without a body.
        let methods = operation.methods().iter().map(ToString::to_string);
        let methods: Vec<String> = methods.filter(|method| method != "HEAD").collect();
        let writes = |name: &str| matches!(name, "POST" | "PUT" | "PATCH");
        let partial = key.is_some() && methods.iter().all(|method| writes(method));
        // POST, PUT and PATCH requests for an item are listed as a single update.
        if let Some(update) = self.endpoints.last_mut().filter(|last| partial && last.partial) {
            update.methods.extend(methods);
            return;
        }
        let takes = operation.attached().copied().unwrap_or(Takes::new(|| &[]));
        let key = if takes.renames { Some(Key::OptionalSlug) } else { key };
        self.endpoints.push(Endpoint { methods, key, parameters: takes.parameters, partial });
    }
}

/// Returns all API routes in documentation order.
pub fn routes<'o>(operations: impl Iterator<Item = &'o Operation>) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    for operation in operations {
        let Some(path) = below_namespace(operation.template()) else { continue };
        let key = KEYS.iter().find(|(name, ..)| path.contains(name));
        let pattern = match key {
            Some((name, _, expression)) => path.replace(name, expression),
            None => path.to_owned(),
        };
        if routes.last().is_none_or(|last| last.pattern != pattern) {
            routes.push(Route { pattern, endpoints: Vec::new() });
        }
        if let Some(route) = routes.last_mut() {
            route.add(operation, key.map(|(_, key, _)| *key));
        }
    }
    routes
}

/// Returns the part of `path` that follows the namespace, or `None` if it is outside the namespace.
pub fn below_namespace(path: &str) -> Option<&str> {
    let rest = path.strip_prefix('/')?.strip_prefix(NAMESPACE)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Finds the route that matches `path`, which is relative to the namespace.
pub fn route_of<'o>(operations: impl Iterator<Item = &'o Operation>, path: &str) -> Option<Route> {
    let path = path.trim_end_matches('/');
    routes(operations).into_iter().find(|route| fits(&route.pattern, path))
}

fn fits(pattern: &str, path: &str) -> bool {
    let key = KEYS.iter().find_map(|(_, key, expression)| {
        let (before, after) = pattern.split_once(expression)?;
        Some((key, path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after))))
    });
    match key {
        None => pattern == path,
        Some((_, None | Some(""))) => false,
        Some((Key::Id, Some(id))) => id.bytes().all(|byte| byte.is_ascii_digit()),
        Some((_, Some(slug))) => !slug.contains('/'),
    }
}
