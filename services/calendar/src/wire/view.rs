//! What answers are rendered from, beside the resource itself.

use super::addresses::Addresses;
use crate::model::cost::Currency;
use crate::model::zone::Zone;

/// The site as answers show it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub addresses: &'a Addresses,
    pub zone: &'a Zone,
    pub currency: &'a Currency,
}
