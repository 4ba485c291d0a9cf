//! Parses JSON listings. These are `storage#objects` pages from GCS, arrays of their items, and the
//! output of `aws s3api list-objects-v2`, `rclone lsjson` and `gcloud storage`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{BufRead, Read};
use std::rc::Rc;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::defaults::Defaults;
use super::entry::{Bad, Item, Part, Sink, Skipped};
use super::format::S3API_MEMBERS;
use super::link::Link;
use super::record::Record;
use super::unpack::Meter;
use super::xml::NO_LISTING;
use super::{fields, s3, values};
use crate::jobs::error::JobError;
use crate::model::{Attribute, Attributes};

const EMPTY: &str = "the source is not a listing, or it is empty and does not say so";
const NO_BUCKET: &str = "the listing is empty and does not name its bucket: use --bucket";

#[derive(Deserialize)]
struct Object {
    #[serde(alias = "Key")]
    name: Option<String>,
    /// The path in `rclone` listings.
    #[serde(rename = "Path")]
    path: Option<String>,
    #[serde(rename = "IsDir", default)]
    is_folder: bool,
    bucket: Option<String>,
    #[serde(alias = "Size")]
    size: Option<Box<RawValue>>,
    #[serde(alias = "LastModified", alias = "ModTime", alias = "update_time")]
    updated: Option<String>,
    /// This can have any JSON type, because other programs write listings too.
    #[serde(alias = "ETag")]
    etag: Option<Box<RawValue>>,
    #[serde(rename = "timeDeleted", alias = "noncurrent_time")]
    deleted: Option<String>,
    /// In the output of `gcloud storage ls --json`, `cloud_object` or `prefix`.
    #[serde(rename = "type")]
    kind: Option<Box<RawValue>>,
    /// In the output of `gcloud storage ls --json`, the object. Elsewhere, custom metadata set by
    /// the owner.
    metadata: Option<Box<RawValue>>,
}

impl Object {
    /// Returns `true` if this is an entry of that type from `gcloud storage ls --json`.
    fn is_gcloud(&self, kind: &str) -> bool {
        let named = self.kind.as_ref().map(|found| found.get().trim_matches('"'));
        self.name.is_none() && self.path.is_none() && named == Some(kind)
    }

    /// Returns the object that `gcloud storage ls --json` describes, if this is its output.
    fn unwrapped(self) -> Self {
        let metadata = self.metadata.as_ref().filter(|_| self.is_gcloud("cloud_object"));
        let object = metadata.and_then(|object| serde_json::from_str(object.get()).ok());
        object.unwrap_or(self)
    }
}

/// Reads all pages. `named` is the bucket for items that don't specify one.
pub(super) fn read<R: BufRead>(
    input: Meter<R>,
    defaults: &Defaults,
    named: Option<String>,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    let input = SharedMeter(Rc::new(RefCell::new(input)));
    let meter = input.clone();
    let mut reader = std::io::BufReader::with_capacity(8 << 10, input);
    let last_bucket = String::new();
    let (failure, refusal, part) = (None, None, None);
    let page = Page::default();
    let mut state = State {
        sink,
        defaults,
        named,
        position: 0,
        failure,
        refusal,
        last_bucket,
        part,
        page,
        meter,
    };
    let kind = defaults.kind.as_deref();
    let mut is_empty_array = false;
    let (mut pages, mut previous) = (0, defaults.bucket.clone().or_else(|| state.named.clone()));
    loop {
        match skip_blanks(&mut reader) {
            Ok(true) if is_empty_array => return state.sink.broken(EMPTY.to_owned()),
            Ok(true) => pages += 1,
            Ok(false) if pages == 0 => return state.sink.broken(NO_LISTING.to_owned()),
            Ok(false) => return Ok(()),
            Err(error) => return state.sink.broken(error.to_string()),
        }
        let mut json = serde_json::Deserializer::from_reader(&mut reader);
        let page = PageSeed(&mut state).deserialize(&mut json);
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        match page {
            Err(error) => {
                let reason = state.refusal.take();
                let reason = reason.unwrap_or_else(|| format!("broken JSON: {error}"));
                return state.sink.broken(reason);
            }
            Ok(truncated) => {
                let bucket = Some(std::mem::take(&mut state.last_bucket));
                let bucket = bucket.filter(|bucket| !bucket.is_empty());
                let (part, mut page) = (state.part.take(), std::mem::take(&mut state.page));
                if bucket.is_none() && page.has_bad {
                    continue;
                }
                if bucket.is_none() && !page.is_listing {
                    // `rclone lsjson` of an empty bucket is a list without files.
                    is_empty_array = page.is_array && pages == 1;
                    if is_empty_array {
                        continue;
                    }
                    return state.sink.broken(EMPTY.to_owned());
                }
                previous = bucket.or(previous);
                let Some(bucket) = &previous else {
                    return state.sink.broken(NO_BUCKET.to_owned());
                };
                part.into_iter().for_each(|part| state.sink.part(part));
                state.sink.link(page.link);
                state.sink.page(bucket, kind, truncated)?;
                page.in_array.remove(bucket.trim());
                for bucket in &page.in_array {
                    state.sink.part(Part::Unended);
                    state.sink.page(bucket, kind, false)?;
                }
            }
        }
    }
}

/// Skips whitespace. Returns `false` at the end of the input.
fn skip_blanks<R: BufRead>(reader: &mut R) -> std::io::Result<bool> {
    loop {
        let available = reader.fill_buf()?;
        if available.is_empty() {
            return Ok(false);
        }
        let blanks = available.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if blanks < available.len() {
            reader.consume(blanks);
            return Ok(true);
        }
        reader.consume(blanks);
    }
}

struct SharedMeter<R>(Rc<RefCell<Meter<R>>>);

impl<R> Clone for SharedMeter<R> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<R: BufRead> Read for SharedMeter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

struct State<'a, R> {
    sink: &'a mut dyn Sink,
    defaults: &'a Defaults,
    named: Option<String>,
    position: u64,
    failure: Option<JobError>,
    /// Why the rest of the source isn't read.
    refusal: Option<String>,
    last_bucket: String,
    part: Option<Part>,
    page: Page,
    meter: SharedMeter<R>,
}

/// The current page.
#[derive(Default)]
struct Page {
    /// Whether the page has entries, or a member that only occurs in listings.
    is_listing: bool,
    has_bad: bool,
    /// Whether this is an array of items. An array doesn't say whether it's complete.
    is_array: bool,
    /// Buckets of the items in an array.
    in_array: BTreeSet<String>,
    /// Number of entries according to the page.
    key_count: Option<u64>,
    /// Number of entries and common prefixes so far.
    listed: u64,
    link: Link,
}

impl<R: BufRead> State<'_, R> {
    /// Passes an item to the sink. Returns `false` if reading has to stop.
    fn take(&mut self, object: Object) -> bool {
        self.position += 1;
        self.meter.0.borrow_mut().reset();
        let done = self.try_take(object);
        match done {
            Ok(()) => true,
            Err(failure) => {
                self.failure = Some(failure);
                false
            }
        }
    }

    fn try_take(&mut self, object: Object) -> Result<(), JobError> {
        let position = self.position;
        self.page.is_listing = true;
        self.page.listed += 1;
        if object.is_gcloud("prefix") {
            return self.sink.skipped(Skipped::Prefix);
        }
        let object = object.unwrapped();
        let name = object.name.as_deref().or(object.path.as_deref());
        name.into_iter().for_each(|name| self.page.link.add_key(name));
        if object.is_folder {
            return self.sink.skipped(Skipped::DirectoryMarker);
        }
        if object.deleted.is_some() {
            return self.sink.skipped(Skipped::Version);
        }
        let kind = self.defaults.kind.as_deref();
        let listed = || object.bucket.as_ref().map(|bucket| format!("gs://{bucket}"));
        let named = || self.named.clone();
        let bucket = self.defaults.bucket.clone().or_else(listed).or_else(named);
        let texts = Attributes::from_fn(|attribute| match attribute {
            Attribute::Size => object.size.as_deref().map(values::plain),
            Attribute::LastModified => object.updated.as_deref().map(Cow::Borrowed),
        });
        let parsed = || -> Result<Item<'_>, String> {
            Ok(Item {
                position,
                bucket: bucket.as_deref().ok_or("the bucket is missing: use --bucket")?,
                kind,
                path: name.ok_or("the field name is missing")?,
                attributes: fields::read(&texts, Attribute::member)?,
                etag: fields::etag(object.etag.as_deref().map(RawValue::get)),
            })
        };
        let taken = match parsed() {
            Ok(item) => {
                let taken = self.sink.file(&item)?;
                // The buckets of an array are known from its items, so bad ones don't matter.
                if !self.page.is_array || taken.is_ok() {
                    item.bucket.clone_into(&mut self.last_bucket);
                }
                if self.page.is_array && taken.is_ok() {
                    let bucket = item.bucket.trim();
                    if !self.page.in_array.contains(bucket) {
                        self.page.in_array.insert(bucket.to_owned());
                    }
                }
                taken
            }
            Err(reason) => Err(reason),
        };
        let Err(reason) = taken else { return Ok(()) };
        self.page.has_bad = true;
        // All items of a page are in the same bucket.
        let is_known = !self.page.is_array && !self.last_bucket.is_empty();
        let bucket = bucket.or_else(|| is_known.then(|| self.last_bucket.clone()));
        let content = Record::of(bucket.as_deref(), kind)
            .field("fullPath", name)
            .attributes(&texts)
            .into_line();
        self.sink.bad(Bad { position, reason, content, is_unclear: false })
    }
}

/// Reads a page or an array of items. The value is `true` if there are more pages.
struct PageSeed<'s, 'a, R>(&'s mut State<'a, R>);

impl<'de, R: BufRead> DeserializeSeed<'de> for PageSeed<'_, '_, R> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: BufRead> Visitor<'de> for PageSeed<'_, '_, R> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a storage#objects page or an array of its items")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut truncated = false;
        while let Some(key) = map.next_key::<String>()? {
            self.0.page.is_listing |= key == "items" || S3API_MEMBERS.contains(&key.as_str());
            match key.as_str() {
                "items" | "Contents" => map.next_value_seed(ItemsSeed(self.0))?,
                "nextPageToken" | "NextToken" => {
                    let token = text_of(&mut map)?;
                    truncated |= token.is_some();
                    // The AWS CLI makes up its own tokens, so any other token takes precedence.
                    self.0.page.link.next = self.0.page.link.next.take().or(token);
                }
                "NextContinuationToken" | "NextMarker" | "NextKeyMarker" => {
                    let token = text_of(&mut map)?;
                    truncated |= token.is_some();
                    self.0.page.link.next = token.or(self.0.page.link.next.take());
                }
                "kind" => {
                    let kind = map.next_value::<Option<String>>()?;
                    self.0.page.is_listing |= kind.as_deref() == Some("storage#objects");
                }
                "IsTruncated" => truncated |= map.next_value::<Option<bool>>()? == Some(true),
                "Name" => {
                    let name = text_of(&mut map)?.unwrap_or_default();
                    let bucket = self.0.defaults.bucket.as_deref().or(self.0.named.as_deref());
                    let asked = bucket.and_then(s3::name_of);
                    if !name.is_empty() && s3::is_other(asked.as_deref(), &name) {
                        self.0.refusal = Some(s3::other_bucket(&name));
                        return Err(serde::de::Error::custom("stopped"));
                    }
                    self.0.page.link.name = Some(name).filter(|name| !name.is_empty());
                }
                "KeyCount" => self.0.page.key_count = map.next_value::<Value>()?.as_u64(),
                "MaxKeys" => {
                    if map.next_value::<Value>()? == 0 {
                        self.0.part = Some(Part::NoKeys);
                    }
                }
                "Prefix" | "Delimiter" => {
                    if text_of(&mut map)?.is_some() {
                        self.0.part = Some(Part::Filtered);
                    }
                }
                "StartAfter" | "ContinuationToken" | "Marker" | "KeyMarker" => {
                    if let Some(text) = text_of(&mut map)? {
                        self.0.part.get_or_insert(Part::Continued);
                        let Link { token, after, .. } = &mut self.0.page.link;
                        *(if key == "ContinuationToken" { token } else { after }) = Some(text);
                    }
                }
                "prefixes" | "CommonPrefixes" => {
                    map.next_value_seed(SkippedSeed(self.0, Skipped::Prefix))?;
                }
                "Versions" | "DeleteMarkers" => {
                    self.0.part = Some(Part::Versions);
                    map.next_value_seed(SkippedSeed(self.0, Skipped::Version))?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let Page { key_count, listed, .. } = self.0.page;
        if key_count.is_some_and(|count| count > listed) {
            self.0.part = self.0.part.filter(|part| *part != Part::Continued).or(Some(Part::Short));
        }
        Ok(truncated)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<bool, A::Error> {
        self.0.page.is_array = true;
        self.0.part = Some(Part::Unended);
        ItemsSeed(self.0).visit_seq(seq)?;
        Ok(false)
    }

    /// `aws s3api --query` prints `null` instead of an empty array.
    fn visit_unit<E: serde::de::Error>(self) -> Result<bool, E> {
        self.0.page.is_array = true;
        Ok(false)
    }
}

struct ItemsSeed<'s, 'a, R>(&'s mut State<'a, R>);

impl<'de, R: BufRead> DeserializeSeed<'de> for ItemsSeed<'_, '_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, R: BufRead> Visitor<'de> for ItemsSeed<'_, '_, R> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(object) = seq.next_element::<Object>()? {
            if !self.0.take(object) {
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// The text of a member. `None` if it's empty.
fn text_of<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<String>, A::Error> {
    Ok(map.next_value::<Option<String>>()?.filter(|text| !text.is_empty()))
}

/// Counts skipped entries.
struct SkippedSeed<'s, 'a, R>(&'s mut State<'a, R>, Skipped);

impl<'de, R: BufRead> DeserializeSeed<'de> for SkippedSeed<'_, '_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, R: BufRead> Visitor<'de> for SkippedSeed<'_, '_, R> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of skipped entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {
            self.0.meter.0.borrow_mut().reset();
            self.0.page.listed += u64::from(self.1 == Skipped::Prefix);
            if let Err(failure) = self.0.sink.skipped(self.1) {
                self.0.failure = Some(failure);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
