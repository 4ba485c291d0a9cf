//! Parameters of the index, and of reading and deleting one item.

use serde::Deserialize;
use utoipa::IntoParams;
use validator::Validate;

use super::declared::declared;
use crate::wire::values::Text;

/// Parameters of the index.
#[derive(Debug, Default, Deserialize, Validate, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct IndexParameters {
    /// Namespace that is asked for.
    #[param(value_type = String, default = "calendar/events/v1")]
    pub namespace: Option<Text>,
    /// Accepted without effect.
    #[param(value_type = String, default = "view")]
    pub context: Option<Text>,
}

declared!(IndexParameters);

/// Parameters of reading an event.
#[derive(Debug, Default, Deserialize, Validate, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct EventReadParameters {
    /// Password of a protected event.
    #[param(value_type = String)]
    pub password: Option<Text>,
    /// edit shows a protected event to those who may edit it.
    #[param(value_type = String, default = "view")]
    pub context: Option<Text>,
    /// Comma list of the keys to answer with; dots descend: events.id,total.
    #[serde(rename = "_fields")]
    #[param(value_type = String)]
    pub fields: Option<Text>,
}

declared!(EventReadParameters);

/// Parameters of deleting an event.
#[derive(Debug, Default, Deserialize, Validate, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct EventDeleteParameters {
    /// Password of a protected event.
    #[param(value_type = String)]
    pub password: Option<Text>,
    /// Comma list of the keys to answer with; dots descend: events.id,total.
    #[serde(rename = "_fields")]
    #[param(value_type = String)]
    pub fields: Option<Text>,
}

declared!(EventDeleteParameters);

/// Parameters of reading and deleting anything else.
#[derive(Debug, Default, Deserialize, Validate, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ItemParameters {
    /// Comma list of the keys to answer with; dots descend: events.id,total.
    #[serde(rename = "_fields")]
    #[param(value_type = String)]
    pub fields: Option<Text>,
}

declared!(ItemParameters);
