//! What answers are rendered from, beside the resource itself.

use crate::model::cost::Currency;
use crate::model::urls::Urls;
use crate::model::zone::Zone;

/// The site as answers show it.
#[derive(Clone, Copy, Debug)]
pub struct RenderContext<'a> {
    pub urls: &'a Urls,
    pub zone: &'a Zone,
    pub currency: &'a Currency,
}
