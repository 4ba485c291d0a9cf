//! Registers a service's operations with the router and the OpenAPI document.

use actix_web::dev::HttpServiceFactory;
use actix_web::http::Method;
use actix_web::web::{self, ServiceConfig};
use actix_web::{App, FromRequest, Handler, Responder, Route};
use utoipa::openapi::path::{PathItem, Paths};
use utoipa::openapi::{OpenApi, RefOr, Schema};
use utoipa_actix_web::OpenApiFactory;

use super::operation::Operation;
use crate::pages::Site;

/// Collects a service's operations, in documentation order.
///
/// Besides being routed and documented in OpenAPI, each operation is added to
/// [`Operations`](crate::Operations), which drives 405 responses, canonical paths and access log
/// redaction.
///
/// ```
/// use actix_web::get;
/// use shell::Routes;
///
/// /// Who may call an operation.
/// #[derive(Debug, PartialEq)]
/// enum Access {
///     Anybody,
///     Keyed,
/// }
///
/// #[utoipa::path(operation_id = "listRows", responses((status = 200)))]
/// #[get("/rows")]
/// async fn list_rows() -> &'static str {
///     "[]"
/// }
///
/// #[utoipa::path(operation_id = "getRow", responses((status = 200)))]
/// #[get("/rows/{id}")]
/// async fn get_row() -> &'static str {
///     "{}"
/// }
///
/// fn routes(routes: &mut Routes<'_>) {
///     routes.add(list_rows).attach(Access::Anybody);
///     routes.add(get_row).attach(Access::Keyed);
/// }
///
/// let operations = shell::Operations::of(routes);
/// let found = operations.find("/rows/7").unwrap();
/// assert_eq!(found.id(), Some("getRow"));
/// assert_eq!(found.attached::<Access>(), Some(&Access::Keyed));
/// assert_eq!(operations.redact("/rows/7"), "/rows/{id}");
/// assert_eq!(operations.redact("/rows/7/secret"), "/rows/{hidden}/{hidden}");
/// ```
pub struct Routes<'a> {
    config: &'a mut ServiceConfig,
    pass: Pass,
    described: Described,
}

/// The purpose of one pass over a service's routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// Lists and documents the routes without registering any handlers.
    Describe,
    /// Registers the hot routes first so the router matches them before the others.
    Frequent,
    /// Registers the remaining routes.
    Others,
}

#[derive(Default)]
pub(super) struct Described {
    pub(super) operations: Vec<Operation>,
    paths: Paths,
    schemas: Vec<(String, RefOr<Schema>)>,
}

impl<'a> Routes<'a> {
    fn new(config: &'a mut ServiceConfig, pass: Pass) -> Self {
        Self { config, pass, described: Described::default() }
    }

    /// Adds a handler that is documented with `#[utoipa::path]`.
    pub fn add<F>(&mut self, handler: F) -> &mut Operation
    where
        F: HttpServiceFactory + OpenApiFactory + 'static,
    {
        self.register(handler, Pass::Others)
    }

    /// Adds a handler for a hot route, which the router tries before all others.
    ///
    /// ```
    /// # use actix_web::get;
    /// # #[utoipa::path(responses((status = 200)))]
    /// # #[get("/search")]
    /// # async fn search() -> &'static str { "" }
    /// fn routes(routes: &mut shell::Routes<'_>) {
    ///     routes.add_frequent(search);
    /// }
    /// # assert_eq!(shell::Operations::of(routes).iter().count(), 1);
    /// ```
    pub fn add_frequent<F>(&mut self, handler: F) -> &mut Operation
    where
        F: HttpServiceFactory + OpenApiFactory + 'static,
    {
        self.register(handler, Pass::Frequent)
    }

    /// Adds an operation that [`Service::first`](crate::Service::first) answers before routing, so
    /// it has no handler but is still listed and documented. `documented` is the
    /// `__path_<function>` struct that `utoipa::path` generates for a function.
    ///
    /// ```
    /// # use actix_web::HttpResponse;
    /// /// Reads a range.
    /// #[utoipa::path(get, path = "/range/{prefix}", responses((status = 200)))]
    /// fn get_range() -> HttpResponse {
    ///     HttpResponse::Ok().finish()
    /// }
    ///
    /// fn routes(routes: &mut shell::Routes<'_>) {
    ///     routes.answered_first(__path_get_range);
    /// }
    /// # assert_eq!(shell::Operations::of(routes).redact("/range/ABCDE"), "/range/{prefix}");
    /// ```
    pub fn answered_first(&mut self, documented: impl OpenApiFactory) -> &mut Operation {
        let at = self.describe(&documented);
        &mut self.described.operations[at]
    }

    /// Serves a page. Pages don't appear in the OpenAPI document.
    ///
    /// ```
    /// use actix_web::http::Method;
    /// use actix_web::web;
    ///
    /// fn routes(routes: &mut shell::Routes<'_>) {
    ///     routes.page("/", web::get().to(async || "hello")).serves(Method::GET);
    /// }
    /// # assert_eq!(shell::Operations::of(routes).redact("/"), "/");
    /// ```
    pub fn page(&mut self, path: &str, route: Route) -> &mut Operation {
        if self.pass == Pass::Others {
            self.config.route(path, route);
        }
        let at = self.described.operations.len();
        self.described.operations.push(Operation::new(path, Vec::new(), None));
        &mut self.described.operations[at]
    }

    /// Serves a read-only page. Methods other than `GET` and `HEAD` get 405.
    ///
    /// ```
    /// use actix_web::http::Method;
    ///
    /// fn routes(routes: &mut shell::Routes<'_>) {
    ///     routes.get_page("/", async || "hello");
    /// }
    /// let operations = shell::Operations::of(routes);
    /// assert_eq!(operations.find("/").unwrap().methods(), [Method::GET, Method::HEAD]);
    /// ```
    pub fn get_page<F, Args>(&mut self, path: &str, handler: F)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.page(path, web::get().to(handler));
        if let Some(page) = self.described.operations.last_mut() {
            page.methods = vec![Method::GET, Method::HEAD];
        }
    }

    /// Serves a site's assets.
    pub fn assets(&mut self, site: &'static Site) {
        self.described.operations.push(Operation::new("/assets/{file}", Vec::new(), None));
        self.configure(|config| site.serve(config));
    }

    /// Registers routes that aren't operations, such as files. They are neither documented nor
    /// listed.
    ///
    /// ```
    /// use actix_web::web;
    ///
    /// fn routes(routes: &mut shell::Routes<'_>) {
    ///     routes.configure(|config| {
    ///         config.route("/media/{name}", web::get().to(async || "image"));
    ///     });
    /// }
    /// # assert_eq!(shell::Operations::of(routes).iter().count(), 0);
    /// ```
    pub fn configure(&mut self, register: impl FnOnce(&mut ServiceConfig)) {
        if self.pass == Pass::Others {
            register(self.config);
        }
    }

    fn register<F>(&mut self, handler: F, pass: Pass) -> &mut Operation
    where
        F: HttpServiceFactory + OpenApiFactory + 'static,
    {
        let at = self.describe(&handler);
        if self.pass == pass {
            self.config.service(handler);
        }
        &mut self.described.operations[at]
    }

    /// Lists and documents a handler's operations, and returns the index of the first.
    fn describe(&mut self, handler: &impl OpenApiFactory) -> usize {
        let at = self.described.operations.len();
        if self.pass != Pass::Describe {
            self.described.operations.push(Operation::new("", Vec::new(), None));
            return at;
        }
        let paths = handler.paths();
        for (template, item) in &paths.paths {
            self.described.operations.push(described(template, item));
        }
        if self.described.operations.len() == at {
            self.described.operations.push(Operation::new("", Vec::new(), None));
        }
        self.described.paths.merge(paths);
        handler.schemas(&mut self.described.schemas);
        at
    }
}

/// Builds the operation for a path. Its ID, summary and tag come from the path's first method.
fn described(template: &str, item: &PathItem) -> Operation {
    let mut methods = Vec::new();
    let mut first = None;
    for (method, operation) in [
        (Method::GET, &item.get),
        (Method::HEAD, &item.head),
        (Method::POST, &item.post),
        (Method::PUT, &item.put),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ] {
        let Some(operation) = operation else { continue };
        first = first.or(Some(operation));
        if method != Method::HEAD || !methods.contains(&method) {
            methods.push(method.clone());
        }
        if method == Method::GET {
            methods.push(Method::HEAD);
        }
    }
    let mut described =
        Operation::new(template, methods, first.and_then(|first| first.operation_id.clone()));
    if let Some(first) = first {
        described.summary = first.summary.clone().unwrap_or_default();
        described.tag = first.tags.iter().flatten().next().cloned().unwrap_or_default();
    }
    described
}

pub(super) fn describe(register: impl FnOnce(&mut Routes<'_>)) -> Described {
    let mut described = Described::default();
    // actix only hands out a `ServiceConfig` while building an app, so we build one and drop it.
    let _ = App::new().configure(|config| {
        let mut routes = Routes::new(config, Pass::Describe);
        register(&mut routes);
        described = routes.described;
    });
    described
}

/// Registers the operations that `add` lists, hot routes first.
pub(crate) fn serve(config: &mut ServiceConfig, add: fn(&mut Routes<'_>)) {
    for pass in [Pass::Frequent, Pass::Others] {
        add(&mut Routes::new(config, pass));
    }
}

pub(crate) fn document(document: &mut OpenApi, add: fn(&mut Routes<'_>)) {
    let described = describe(add);
    document.paths.merge(described.paths);
    document.components.get_or_insert_default().schemas.extend(described.schemas);
}
