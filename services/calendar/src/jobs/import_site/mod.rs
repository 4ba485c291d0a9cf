//! Takes over a site that has the recorded REST API.
//!
//! Each item is written in its own transaction with its id at the site and a digest of its fields. A
//! repeated run therefore resumes, and writes only what changed at the site.

mod client;
mod items;

use std::collections::{HashMap, HashSet};
use std::fmt;

use anyhow::{Context as _, bail, ensure};
use batch::{ProgressReporter, Unit};
use database::{Db, WriterQueue};
use serde::Serialize;
use serde_json::{Map, Value};

pub use self::client::SiteAccess;
use self::client::{Reply, SiteClient};
use self::items::{ItemKind, digest, id_of, image_url, number, objects};
use super::load::first_user;
use super::writer_queue::writer_queue;
use crate::app::{self, SiteWrite, SiteWritten, Undone};
use crate::error::Error;
use crate::model::linked::Kind;
use crate::model::role::User;
use crate::model::term::Taxonomy;
use crate::state::State;
use crate::store::remote_images::ImageFetcher;
use crate::store::{images, site_items, sql, users};
use crate::wire::params::Params;

/// Items per page, the most that the recorded system gives.
const PER_PAGE: usize = 50;

/// Maximum number of pages of a list.
const MOST_PAGES: usize = 100_000;

/// Maximum number of faults reported individually.
const MAX_FAULTS: usize = 100;

/// Time limit of an image.
const IMAGE_TIME: std::time::Duration = std::time::Duration::from_secs(60);

/// The result of taking over a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TakenOver {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Changed items that were moved to the trash or erased here.
    pub skipped: u64,
    pub failed: u64,
    /// Images that could not be fetched. The next run tries again.
    pub missing_images: u64,
    /// Lists that had another number of items than they said.
    pub incomplete: u64,
    /// The first failed items, by their ids.
    pub faults: Vec<ItemFault>,
}

/// A failed item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItemFault {
    /// The list with the item.
    pub list: &'static str,
    /// Its id at the site.
    pub id: i64,
    /// The error.
    pub message: String,
}

impl TakenOver {
    /// Returns whether everything was taken over.
    pub fn is_whole(&self) -> bool {
        self.failed + self.missing_images + self.incomplete == 0
    }

    fn note(&mut self, kind: ItemKind, id: i64, message: String) {
        self.failed += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(ItemFault { list: kind.collection(), id, message });
        }
    }
}

impl fmt::Display for TakenOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TakenOver { created, updated, unchanged, skipped, failed, missing_images, .. } = self;
        write!(
            f,
            "{created} created, {updated} updated, {unchanged} unchanged, {skipped} skipped, {failed} failed, \
             {missing_images} images missing"
        )
    }
}

/// Takes over a site, or what changed there since the last run.
///
/// # Errors
/// The site does not answer or has no such API, or the database failed. What was written stays, and
/// the next run resumes.
pub fn import_site(state: &State, access: &SiteAccess) -> anyhow::Result<TakenOver> {
    let images = ImageFetcher::new(access.reach.clone(), IMAGE_TIME)?;
    let mut site = Site {
        state,
        client: SiteClient::new(access)?,
        images,
        queue: writer_queue(&state.pools),
        user: state.pools.read_blocking(first_user)?,
        authors: HashMap::new(),
        statuses: match &access.credentials {
            Some(_) => "&status=publish,draft,pending,private,future",
            None => "",
        },
        report: TakenOver::default(),
    };
    for kind in ItemKind::ALL {
        site.list(kind).with_context(|| {
            format!(
                "{} ended early ({}); run the same command to resume",
                kind.collection(),
                site.report
            )
        })?;
    }
    Ok(site.report)
}

/// The image of an item, as it is stored here.
enum ImageHere {
    None,
    Id(i64),
    Missing,
}

struct Site<'a> {
    state: &'a State,
    client: SiteClient,
    images: ImageFetcher,
    queue: WriterQueue<'a, Error>,
    user: User,
    /// Users here by the ids of authors there.
    authors: HashMap<i64, i64>,
    /// The statuses to ask for.
    statuses: &'static str,
    report: TakenOver,
}

/// A page of a list.
struct Page {
    items: Vec<Value>,
    total: Option<u64>,
    pages: usize,
}

impl Site<'_> {
    fn list(&mut self, kind: ItemKind) -> anyhow::Result<()> {
        let progress = ProgressReporter::new(kind.collection(), Unit::Items("items"), None);
        let (mut seen, mut parents, mut total) = (HashSet::new(), Vec::new(), None);
        for number in 1..=MOST_PAGES {
            let Some(page) = self.page(kind, number)? else { break };
            total = page.total;
            let before = seen.len();
            for item in &page.items {
                let Some(id) = id_of(item) else {
                    self.report.note(kind, 0, "has an item without id".to_owned());
                    continue;
                };
                if !seen.insert(id) {
                    continue;
                }
                let ours = self.take(kind, id, item)?;
                let parent = item.get("parent").and_then(items::number);
                parents.extend(ours.zip(parent));
                progress.set(seen.len() as u64);
            }
            if page.items.is_empty() || number >= page.pages {
                break;
            }
            ensure!(
                seen.len() > before,
                "page {number} of the list repeats the items of earlier pages"
            );
            ensure!(number < MOST_PAGES, "the list has no end");
        }
        progress.finish();
        if total.is_some_and(|total| total != seen.len() as u64) {
            let (name, found) = (kind.collection(), seen.len());
            log::warn!(
                "the site has {} {name} and listed {found}: it changed meanwhile, so run the command again",
                total.unwrap_or(0)
            );
            self.report.incomplete += 1;
        }
        if let ItemKind::Term(taxonomy) = kind {
            self.set_parents(taxonomy, &parents)?;
        }
        Ok(())
    }

    /// Reads a page of a list, or `None` after the last one.
    fn page(&self, kind: ItemKind, number: usize) -> anyhow::Result<Option<Page>> {
        let name = kind.collection();
        let more = match kind {
            ItemKind::Term(_) => "",
            ItemKind::Linked(_) => self.statuses,
            ItemKind::Event => {
                &format!("&start_date=1000-01-01&end_date=9999-12-31{}", self.statuses)
            }
        };
        let path = format!("tribe/events/v1/{name}?per_page={PER_PAGE}&page={number}{more}");
        let mut found = match self.client.get(&path)? {
            Reply::Found(found) => found,
            // The end of a list, or a list without items.
            Reply::Refused(404, code)
                if number > 1 || (code.contains("not-found") && code != "rest_no_route") =>
            {
                return Ok(None);
            }
            Reply::Refused(status @ (401 | 403), code) => {
                bail!("the site refuses the user: {status} {code}")
            }
            Reply::Refused(status, code) => bail!(
                "{} does not have the REST API of The Events Calendar: {status} {code}",
                self.client.root()
            ),
        };
        let Some(Value::Array(items)) = found.get_mut(name).map(Value::take) else {
            bail!("{} answers without a list of {name}", self.client.root());
        };
        let pages = found["total_pages"].as_u64().and_then(|pages| usize::try_from(pages).ok());
        Ok(Some(Page { items, total: found["total"].as_u64(), pages: pages.unwrap_or(usize::MAX) }))
    }

    /// Writes an item if it is new or changed. Returns its id here.
    fn take(&mut self, kind: ItemKind, id: i64, item: &Value) -> anyhow::Result<Option<i64>> {
        let mut fields = kind.copied(item);
        self.add_links(kind, item, &mut fields)?;
        let source = source(self.client.root(), kind);
        let digest = digest(&fields);
        let known = self.state.pools.read_blocking(|db| site_items::find(db, &source, id))?;
        if let Some(known) = &known
            && known.digest == digest
        {
            self.report.unchanged += 1;
            return Ok(Some(known.our_id));
        }
        if let ItemKind::Event | ItemKind::Linked(_) = kind
            && let Some(author) = item.get("author").and_then(number)
            && known.is_none()
        {
            let author = self.author(author)?;
            fields.insert("author".to_owned(), author.into());
        }
        let image = match kind {
            ItemKind::Term(_) => ImageHere::None,
            ItemKind::Event | ItemKind::Linked(_) => self.image(item)?,
        };
        let digest = match image {
            ImageHere::Id(id) => {
                fields.insert("image".to_owned(), id.into());
                digest
            }
            ImageHere::None => digest,
            // The next run tries again.
            ImageHere::Missing => {
                fields.remove("image");
                String::new()
            }
        };
        let params = Params::from_json(Value::Object(fields));
        let write = SiteWrite {
            kind: match kind {
                ItemKind::Term(taxonomy) => app::SiteKind::Term(taxonomy),
                ItemKind::Linked(kind) => app::SiteKind::Linked(kind),
                ItemKind::Event => app::SiteKind::Event,
            },
            their_id: id,
            our_id: known.as_ref().map(|known| known.our_id),
        };
        let (state, user) = (self.state, &self.user);
        let written = self.queue.write(|db| {
            sql::one_writer(db)?;
            let written = match app::write_site_item(state, db, user, &params, write) {
                Err(Undone::Failed(error)) => return Err(error),
                written => written,
            };
            if let Ok(
                SiteWritten::Created(ours) | SiteWritten::Updated(ours) | SiteWritten::Same(ours),
            ) = &written
            {
                site_items::note(db, &source, id, (*ours, &digest))?;
            }
            Ok(written)
        })?;
        Ok(match written {
            Ok(SiteWritten::Created(ours)) => {
                self.report.created += 1;
                Some(ours)
            }
            Ok(SiteWritten::Updated(ours)) => {
                self.report.updated += 1;
                Some(ours)
            }
            Ok(SiteWritten::Same(ours)) => {
                self.report.unchanged += 1;
                Some(ours)
            }
            Ok(SiteWritten::Removed) => {
                self.report.skipped += 1;
                None
            }
            Err(Undone::Faulty(message)) => {
                self.report.note(kind, id, message);
                None
            }
            Err(Undone::Unchanged) => known.map(|known| known.our_id),
            Err(Undone::Failed(error)) => return Err(error.into()),
        })
    }

    /// Stores the image of an item, unless it is stored already.
    fn image(&mut self, item: &Value) -> anyhow::Result<ImageHere> {
        let url = image_url(item);
        if url.is_empty() {
            return Ok(ImageHere::None);
        }
        if let Some(id) = self.state.pools.read_blocking(|db| images::fetched_from(db, url))? {
            return Ok(ImageHere::Id(id));
        }
        let file = match self.client.run(app::fetch_image(self.state, &self.images, url, None)) {
            Ok(file) => file,
            Err(Error::Parameters(_)) => {
                log::warn!("the image {url} cannot be fetched; its item is taken over without it");
                self.report.missing_images += 1;
                return Ok(ImageHere::Missing);
            }
            Err(error) => return Err(error.into()),
        };
        let (author, now) = (self.user.id, self.state.clock.unix());
        let wanted = id_of(&item["image"]);
        let id = self.queue.write(|db| {
            sql::one_writer(db)?;
            match images::fetched_from(db, url)? {
                Some(id) => Ok(id),
                None => Ok::<_, Error>(images::insert_as(db, (url, &file), wanted, author, now)?),
            }
        })?;
        Ok(ImageHere::Id(id))
    }

    /// Adds image, terms, venues and organizers of an item, with their ids here.
    fn add_links(
        &mut self,
        kind: ItemKind,
        item: &Value,
        fields: &mut Map<String, Value>,
    ) -> anyhow::Result<()> {
        if let ItemKind::Term(_) = kind {
            return Ok(());
        }
        fields.insert("image".to_owned(), image_url(item).into());
        if kind != ItemKind::Event {
            return Ok(());
        }
        let lists = [
            ("categories", ItemKind::Term(Taxonomy::Category)),
            ("tags", ItemKind::Term(Taxonomy::Tag)),
            ("venue", ItemKind::Linked(Kind::Venue)),
            ("organizer", ItemKind::Linked(Kind::Organizer)),
        ];
        for (name, kind) in lists {
            let mut ids: Vec<Value> = Vec::new();
            for object in objects(item, name) {
                let Some(id) = id_of(object) else { continue };
                let source = source(self.client.root(), kind);
                let known =
                    self.state.pools.read_blocking(|db| site_items::find(db, &source, id))?;
                let ours = match known {
                    Some(known) => Some(known.our_id),
                    // A list may lack what is not published.
                    None => self.take(kind, id, object)?,
                };
                ids.extend(ours.map(Value::from));
            }
            fields.insert(name.to_owned(), ids.into());
        }
        Ok(())
    }

    /// Returns the user here who has the login of an author there, or the first user.
    fn author(&mut self, id: i64) -> anyhow::Result<i64> {
        if let Some(known) = self.authors.get(&id) {
            return Ok(*known);
        }
        let login = match self.client.get(&format!("wp/v2/users/{id}"))? {
            Reply::Found(user) => user["slug"].as_str().map(str::to_owned),
            Reply::Refused(..) => None,
        };
        let found = match login {
            Some(login) => self.state.pools.read_blocking(|db| users::by_login(db, &login))?,
            None => None,
        };
        let ours = found.map_or(self.user.id, |user| user.id);
        self.authors.insert(id, ours);
        Ok(ours)
    }

    /// Sets the parents of categories, which may follow their children in the list.
    fn set_parents(&mut self, taxonomy: Taxonomy, parents: &[(i64, i64)]) -> anyhow::Result<()> {
        let source = source(self.client.root(), ItemKind::Term(taxonomy));
        for (child, parent) in parents {
            self.queue.write(|db: &mut Db| {
                sql::one_writer(db)?;
                match site_items::find(db, &source, *parent)? {
                    Some(parent) => app::set_term_parent(db, taxonomy, *child, parent.our_id),
                    None => Ok(()),
                }
            })?;
        }
        Ok(())
    }
}

/// Names a list of a site in the table of its items.
fn source(root: &str, kind: ItemKind) -> String {
    format!("{root} {}", kind.collection())
}
