//! Pages for people: one small design system for all services.
//!
//! A [`Site`] is what a service's pages share: its name, [`Accent`], icon, navigation, scripts and
//! further style sheets. A [`Page`] is the frame around one template. Styles and scripts are served
//! below `/assets/` under names that hold a digest of their content, so that browsers keep them for
//! good; every page carries a policy that allows nothing but the service's own files, so that there
//! are no inline styles and no inline scripts.
//!
//! A page that never changes is declared in a few lines. Its content is an `askama` template, which
//! escapes every value; one without values is plain HTML:
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
//!     Site::new("Echo service", "Answers what it is sent.", Accent::Teal)
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
//! A page with values is rendered for each request by [`Site::respond`]; one that everybody sees
//! alike by [`Site::respond_shared`], which lets clients keep it.
//!
//! A proxy may serve the site below a path, that of `PUBLIC_URL`: pages get it by [`Page::root`], and
//! templates write every link and form of the site with the filter [`struct@link`]:
//! `<a href="{{ "/sign-in"|shell::pages::link }}">`.
//!
//! # Classes
//!
//! `src/pages/style` holds the style sheet: `tokens.css` (colours in light and dark, space, type),
//! `elements.css` (plain HTML: headings, tables, forms, focus, print) and `components.css`. Plain
//! elements look right without a class; these exist beside them:
//!
//! | Class | For |
//! |---|---|
//! | `lead`, `soft`, `small`, `hint`, `error` | introductions, secondary and small text, help and faults of a field |
//! | `card` | a bordered area: a form, an explanation |
//! | `notice`, with `good`, `bad` or `warn` | an outcome or a warning; `lines` keeps line ends |
//! | `row` with `grow`, `grid` | fields side by side, fields in columns |
//! | `field`, `choice` in `choices` | a label around its field, a label around a check box |
//! | `button`, `button primary` | links that look like buttons; a submit button is primary by itself |
//! | `facts` | a `dl` of names and values |
//! | `table`, `table stack` | around a `table`: scrolls, or stands in blocks on narrow screens (`data-label` on each cell) |
//! | `number`, `date` | cells |
//! | `pager` | steps between the parts of a list |

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
pub use page::Page;
pub use site::{Accent, Site};
