//! UI strings by language.

#![deny(unused_variables)]

pub(super) mod ar;
pub(super) mod cs;
pub(super) mod de;
pub(super) mod en;
pub(super) mod es;
pub(super) mod fr;
pub(super) mod it;
pub(super) mod ja;
pub(super) mod nl;
pub(super) mod pl;
pub(super) mod pt;
pub(super) mod sv;
pub(super) mod uk;
pub(super) mod zh;
