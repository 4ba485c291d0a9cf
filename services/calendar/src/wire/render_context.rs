//! The context for rendering responses.

use crate::model::cost::Currency;
use crate::model::language::Language;
use crate::model::urls::Urls;
use crate::model::zone::Zone;

/// The site settings that responses show.
#[derive(Clone, Copy, Debug)]
pub struct RenderContext<'a> {
    pub urls: &'a Urls,
    pub zone: &'a Zone,
    pub currency: &'a Currency,
    /// The language of a page.
    pub language: Language,
}
