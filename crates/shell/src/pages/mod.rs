//! Web pages and the small design system that all services share.
//!
//! A [`Site`] holds everything that a service's pages share, such as the name, [`Accent`], icon,
//! navigation, scripts and extra style sheets. A [`Page`] describes the layout around a template.
//! Styles and scripts are served from `/assets/` under names that contain a digest of their
//! content, so browsers can cache them forever. Every page's content security policy allows only
//! the service's own files, which rules out inline styles and scripts.
//!
//! A static page takes just a few lines of code. Its content is an `askama` template, which escapes
//! all values:
//!
//! ```
//! use std::sync::LazyLock;
//!
//! use actix_web::{HttpRequest, HttpResponse, web};
//! use askama::Template;
//! use shell::pages::{Accent, FixedPage, Page, Site};
//!
//! #[derive(Template)]
//! #[template(source = "<h1>Echo</h1><p id=\"reply\"></p>", ext = "html")]
//! struct Echo;
//!
//! static SITE: LazyLock<Site> = LazyLock::new(|| {
//!     Site::new("Echo service", "Returns what it receives.", Accent::Teal)
//!         .icon("M4 4h16v16H4z")
//!         .script("echo.js", b"'use strict';")
//! });
//! static PAGE: LazyLock<FixedPage> =
//!     LazyLock::new(|| SITE.fixed(&Page::home("Echo").script("echo.js"), &Echo));
//!
//! async fn page(request: HttpRequest) -> HttpResponse {
//!     PAGE.respond(&request)
//! }
//!
//! fn operations(routes: &mut shell::Routes<'_>) {
//!     routes.page("/", web::get().to(page));
//!     routes.assets(&SITE);
//! }
//! # assert_eq!(shell::Operations::of(operations).iter().count(), 2);
//! ```
//!
//! [`Site::respond`] renders a page for a single request. Use [`Site::respond_shared`] for pages
//! that are the same for all clients, so they can be cached.
//!
//! If a proxy serves the site below a path, as set in `PUBLIC_URL`, pass that path to
//! [`Page::root`] and use the [`struct@link`] filter for every link and form in your templates:
//! `<a href="{{ "/sign-in"|shell::pages::link }}">`.
//!
//! # Classes
//!
//! The style sheet is in `src/pages/style`. `tokens.css` has the light and dark colors, spacing and
//! type, `elements.css` styles plain HTML (headings, tables, forms, focus, print), and
//! `components.css` adds these classes:
//!
//! | Class | Use |
//! |---|---|
//! | `lead`, `soft`, `small`, `hint`, `error` | introductions, secondary and small text, a field's help and error |
//! | `card` | a bordered area, for example for a form |
//! | `notice`, with `good`, `bad` or `warn` | an outcome or a warning; `lines` preserves line breaks |
//! | `row` with `grow`, `grid` | fields next to each other, fields in columns |
//! | `field`, `choice` in `choices` | a label around its field, a label around a check box |
//! | `button`, `button primary` | links that look like buttons; submit buttons are always primary |
//! | `facts` | a `dl` with names and values |
//! | `table`, `table stack` | around a `table`: scrolls, or becomes blocks on narrow screens (`data-label` on each cell) |
//! | `number`, `date` | cells |
//! | `pager` | links to a list's other pages |

mod asset;
mod frame;
mod headers;
mod links;
mod page;
mod site;
#[cfg(test)]
mod tests;

pub(crate) use asset::Content;
pub use asset::FixedPage;
pub use links::link;
pub use page::{FrameWords, Page, Translation};
pub use site::{Accent, Site};
