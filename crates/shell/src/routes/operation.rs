//! A single operation of a service.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use actix_web::http::Method;

/// A path of the service with its methods and, optionally, an attached value.
#[derive(Clone)]
pub struct Operation {
    pub(super) template: String,
    pub(super) segments: Vec<Segment>,
    pub(super) methods: Vec<Method>,
    pub(super) id: Option<String>,
    pub(super) summary: String,
    pub(super) tag: String,
    pub(super) attached: Option<Arc<dyn Any + Send + Sync>>,
}

/// A segment of a path template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Segment {
    Literal(String),
    Parameter(String),
}

impl Operation {
    pub(super) fn new(template: &str, methods: Vec<Method>, id: Option<String>) -> Self {
        let segments = template.split('/').map(Segment::of).collect();
        let template = template.to_owned();
        let (summary, tag) = Default::default();
        Self { template, segments, methods, id, summary, tag, attached: None }
    }

    /// Attaches a service-defined value, such as a required permission or a cost.
    ///
    /// See [`Routes`](crate::Routes) for an example.
    pub fn attach<A: Send + Sync + 'static>(&mut self, value: A) -> &mut Self {
        self.attached = Some(Arc::new(value));
        self
    }

    /// Declares the method that a page's route handles, so other methods get 405 instead of 404.
    /// `GET` implies `HEAD`.
    pub fn serves(&mut self, method: Method) -> &mut Self {
        self.methods = match method {
            Method::GET => vec![Method::GET, Method::HEAD],
            other => vec![other],
        };
        self
    }

    /// Returns the path template, with parameters in braces, e.g. `/events/{id}`.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// Returns the allowed methods. `HEAD` is listed wherever `GET` is.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// Returns the `operationId` from the OpenAPI document, or `None` for a page.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the summary from the OpenAPI document, or an empty string for a page.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns the first tag from the OpenAPI document, or an empty string for a page.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Returns the attached value, provided it is of type `A`.
    pub fn attached<A: 'static>(&self) -> Option<&A> {
        self.attached.as_deref()?.downcast_ref()
    }

    pub(super) fn has_parameters(&self) -> bool {
        self.segments.iter().any(|segment| matches!(segment, Segment::Parameter(_)))
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("template", &self.template)
            .field("methods", &self.methods)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Segment {
    fn of(part: &str) -> Self {
        match Self::name(part) {
            Some(name) => Self::Parameter(name.to_owned()),
            None => Self::Literal(part.to_owned()),
        }
    }

    /// Returns whether `part`, a segment of a path template, is a parameter.
    pub(super) fn is_parameter(part: &str) -> bool {
        Self::name(part).is_some()
    }

    fn name(part: &str) -> Option<&str> {
        part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
    }
}
