//! Context for rendering responses.

use crate::model::cost::Currency;
use crate::model::language::Language;
use crate::model::urls::Urls;
use crate::model::zone::Zone;

/// Site settings that affect responses.
#[derive(Clone, Copy, Debug)]
pub struct RenderContext<'a> {
    pub urls: &'a Urls,
    pub zone: &'a Zone,
    pub currency: &'a Currency,
    /// The page language.
    pub language: Language,
}
