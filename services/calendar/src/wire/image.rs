//! Images in responses.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::image::Image;
use crate::model::urls::Urls;

/// An image. Fields whose value is unknown are absent.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Image)]
pub struct ImageJson {
    pub url: String,
    pub id: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub extension: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesize: Option<i64>,
    /// Additional sizes by name. Always absent, because images are not resized.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<String, ImageSize>,
}

/// An additional size of an image.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ImageSize {
    pub width: i64,
    pub height: i64,
    #[serde(rename = "mime-type")]
    pub mime_type: String,
    pub filesize: i64,
    pub url: String,
}

/// The image of an event: an object, or `false` if the event does not have an image.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ImageField {
    Some(ImageJson),
    None(bool),
}

impl ImageJson {
    pub fn new(image: &Image, urls: &Urls) -> ImageJson {
        ImageJson {
            url: urls.image(image),
            id: image.id,
            extension: image.extension.clone(),
            width: image.width,
            height: image.height,
            filesize: image.filesize,
            sizes: BTreeMap::new(),
        }
    }
}
