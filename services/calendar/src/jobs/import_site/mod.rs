//! Imports a remote site that runs The Events Calendar, using its REST API.
//!
//! Each item is written in its own transaction, together with its id on the site and a digest of
//! its fields. The next run therefore resumes where the last one stopped, and only writes items
//! that have changed on the site since then.

mod client;
mod items;
mod parents;
mod protected;
mod report;
mod rows;

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, bail, ensure};
use batch::{ProgressReporter, Unit};
use database::{Db, WriterQueue};
use serde_json::{Map, Value};

pub use self::client::SiteAccess;
use self::client::{Failure, Reply, SiteClient};
use self::items::{ItemKind, id_of, image_url, number, objects, parent_of, source};
use self::parents::{Parent, parents_first};
use self::report::TakenOver;
use self::rows::{exists, is_removed};
use super::load::first_user;
use super::writer_queue::writer_queue;
use crate::app::{self, SiteWrite, SiteWritten, Undone};
use crate::error::Error;
use crate::model::image::web_url;
use crate::model::linked::Kind;
use crate::model::role::User;
use crate::model::term::Taxonomy;
use crate::state::State;
use crate::store::remote_images::ImageFetcher;
use crate::store::{images, site_items, sql, users};
use crate::wire::params::Params;

/// Number of items per page. The Events Calendar doesn't allow more than this.
const PER_PAGE: usize = 50;

/// Maximum number of pages to read from a list.
const MOST_PAGES: usize = 100_000;

/// Timeout for fetching an image.
const IMAGE_TIME: std::time::Duration = std::time::Duration::from_secs(60);

/// Imports a site. If it was imported before, only imports the changes since the last run.
///
/// # Errors
/// Fails if the site does not respond or does not provide the API, or if the database fails. Items
/// written until then are kept, and the next run resumes.
pub fn import_site(state: &State, access: &SiteAccess) -> anyhow::Result<TakenOver> {
    let images = ImageFetcher::new(access.reach.clone(), IMAGE_TIME)?;
    let mut site = Site {
        state,
        client: SiteClient::new(access)?,
        images,
        lost_hosts: HashSet::new(),
        queue: writer_queue(&state.pools),
        user: state.pools.read_blocking(first_user)?,
        authors: HashMap::new(),
        parents: Vec::new(),
        statuses: match &access.credentials {
            Some(_) => "&status=publish,draft,pending,private,future",
            None => "",
        },
        report: TakenOver::default(),
    };
    if access.credentials.is_some() {
        site.check_user()?;
    }
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

/// The image of an item, after an attempt to store it.
enum ImageHere {
    None,
    Id(i64),
    Missing,
}

struct Site<'a> {
    state: &'a State,
    client: SiteClient,
    images: ImageFetcher,
    /// Image hosts for which all attempts failed. Other images on these hosts only get one attempt.
    lost_hosts: HashSet<String>,
    queue: WriterQueue<'a, Error>,
    user: User,
    /// Our user ids by author id on the site.
    authors: HashMap<i64, i64>,
    /// Parents to set after the whole list has been read.
    parents: Vec<Parent>,
    /// The query parameter that requests all statuses. Empty without credentials.
    statuses: &'static str,
    report: TakenOver,
}

/// A page of a list on the site.
struct Page {
    items: Vec<Value>,
    total: Option<u64>,
    /// The number of pages, if reported by the site.
    pages: Option<usize>,
}

impl Site<'_> {
    /// Checks that the site accepts our credentials. If it ignored them, drafts would be missing.
    fn check_user(&mut self) -> anyhow::Result<()> {
        match self.client.get("wp/v2/users/me")? {
            Reply::Found(_) => {}
            Reply::Refused(status @ (401 | 403), code) => bail!(
                "the site did not accept the user ({status} {code}); check the login and the \
                 application password, and that the site's web server forwards the Authorization \
                 header"
            ),
            // Some sites disable this endpoint. It is safe to continue, because such a site still
            // rejects anonymous requests for lists that include drafts.
            Reply::Refused(status, _) => log::warn!(
                "the site responded with {status} when asked who the user is, so check that drafts \
                 were imported"
            ),
        }
        Ok(())
    }

    fn list(&mut self, kind: ItemKind) -> anyhow::Result<()> {
        let progress = ProgressReporter::new(kind.collection(), Unit::Items("items"), None);
        let (mut seen, mut total, mut pages) = (HashSet::new(), None, None);
        let (mut children, mut is_cut) = (Vec::new(), false);
        for number in 1..=MOST_PAGES {
            let Some(page) = self.page(kind, number)? else {
                is_cut = pages.is_some_and(|pages| number <= pages);
                break;
            };
            (total, pages) = (page.total, page.pages);
            let before = seen.len();
            for item in &page.items {
                let Some(id) = id_of(item) else {
                    self.report.note(kind, 0, "has an item without an id".to_owned());
                    continue;
                };
                if !seen.insert(id) {
                    continue;
                }
                // The parent might appear later in the list.
                if let ItemKind::Term(_) = kind
                    && parent_of(item).is_some()
                {
                    children.push((id, item.clone()));
                    continue;
                }
                match protected::unlocked(&self.client, (kind, id), item)? {
                    Some(item) => {
                        self.take(kind, id, &item)?;
                    }
                    None => self.report.note(kind, id, protected::HIDDEN.to_owned()),
                }
                progress.set(seen.len() as u64);
            }
            let is_last = pages.is_some_and(|pages| number >= pages);
            if page.items.is_empty() || is_last {
                // A page can only be empty if the whole list is.
                let has_more = pages.is_some_and(|pages| pages > 1 && number <= pages);
                is_cut = page.items.is_empty() && has_more;
                break;
            }
            ensure!(
                seen.len() > before,
                "page {number} of the list repeats the items of earlier pages"
            );
            ensure!(number < MOST_PAGES, "the list never ends");
        }
        for (id, item) in parents_first(children) {
            self.take(kind, id, &item)?;
        }
        progress.finish();
        let (name, found) = (kind.collection(), seen.len());
        let differs = total.filter(|total| *total != found as u64);
        if let Some(total) = differs {
            log::warn!(
                "the site has {total} {name} but listed {found}: it has changed, run the command \
                 again"
            );
        } else if is_cut {
            log::warn!("the list of {name} ended before its last page: run the command again");
        }
        self.report.incomplete += u64::from(is_cut || differs.is_some());
        self.set_parents(&seen)
    }

    /// Reads a page of a list. Returns `None` after the last page.
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
            // Either we are past the last page, or the list is empty.
            Reply::Refused(404, code)
                if number > 1 || (code.contains("not-found") && code != "rest_no_route") =>
            {
                return Ok(None);
            }
            Reply::Refused(status @ (401 | 403), code) => {
                bail!("the site rejected the user: {status} {code}")
            }
            Reply::Refused(400, code) if number == 1 && more.contains("&status=") => bail!(
                "the site does not show its drafts to the user (400 {code}); check the login and \
                 the application password, and that the site's web server forwards the \
                 Authorization header"
            ),
            Reply::Refused(status, code) => bail!(
                "{} does not provide the REST API of The Events Calendar: {status} {code}",
                self.client.root()
            ),
        };
        let Some(Value::Array(items)) = found.get_mut(name).map(Value::take) else {
            bail!("{} responded without a list of {name}", self.client.root());
        };
        let pages = found["total_pages"].as_u64().and_then(|pages| usize::try_from(pages).ok());
        Ok(Some(Page { items, total: found["total"].as_u64(), pages }))
    }

    /// Writes an item if it is new or has changed. Returns its id in this calendar, or `None` if it
    /// was not written.
    fn take(&mut self, kind: ItemKind, id: i64, item: &Value) -> anyhow::Result<Option<i64>> {
        let mut fields = kind.copied(item);
        self.add_links(kind, item, &mut fields)?;
        let source = source(self.client.root(), kind);
        let digest = protected::marked(kind.digest(item, &fields), &fields);
        let (known, exists, above) = self.state.pools.read_blocking(|db| {
            let known = site_items::find(db, &source, id)?;
            let exists = match &known {
                Some(known) => exists(db, kind, known.our_id)?,
                None => false,
            };
            // Categories with different parents can have the same name, so create a new category
            // below its parent.
            let above = match kind {
                ItemKind::Term(taxonomy) if known.is_none() => {
                    parents::known(db, taxonomy, (&source, item))?
                }
                _ => None,
            };
            Ok::<_, Error>((known, exists, above))
        })?;
        if let Some(known) = &known
            && known.digest == digest
        {
            self.report.unchanged += 1;
            return Ok(exists.then_some(known.our_id));
        }
        if let Some(known) = &known {
            if self.state.pools.read_blocking(|db| is_removed(db, kind, known.our_id))? {
                // The item's image might have been erased here, and would be fetched again.
                self.report.skipped += 1;
                return Ok(None);
            }
            protected::open(&mut fields, &known.digest);
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
            // Without a digest, the next run retries the image.
            ImageHere::Missing => {
                fields.remove("image");
                String::new()
            }
        };
        fields.extend(above.map(|above| ("parent".to_owned(), above.into())));
        let parent = match above {
            Some(_) => None,
            None => Parent::of(kind, item, known.is_some(), (id, &digest)),
        };
        // If the parent hasn't been set yet, don't record the digest until then. If this run is
        // interrupted before that, the next run sets the parent.
        let noted = if parent.is_some() { "" } else { digest.as_str() };
        let params = Params::from_json(Value::Object(fields));
        let (state, user) = (self.state, &self.user);
        let written = self.queue.write(|db| {
            sql::one_writer(db)?;
            // The item might already exist, because another run has written it, or an earlier
            // attempt has committed without reporting success.
            let known = site_items::find(db, &source, id)?;
            if let Some(known) = &known
                && known.digest == digest
                && !digest.is_empty()
            {
                return Ok(Ok(SiteWritten::Same(known.our_id)));
            }
            let write = SiteWrite {
                kind: match kind {
                    ItemKind::Term(taxonomy) => app::SiteKind::Term(taxonomy),
                    ItemKind::Linked(kind) => app::SiteKind::Linked(kind),
                    ItemKind::Event => app::SiteKind::Event,
                },
                their_id: id,
                our_id: known.as_ref().map(|known| known.our_id),
            };
            let written = match app::write_site_item(state, db, user, &params, write) {
                Err(Undone::Failed(error)) => return Err(error),
                Ok(SiteWritten::Same(_)) if known.is_none() && parent.is_some() => {
                    let text = "its parent is missing here, and a root category has its name";
                    Err(Undone::Faulty(text.to_owned()))
                }
                written => written,
            };
            if let Ok(
                SiteWritten::Created(ours) | SiteWritten::Updated(ours) | SiteWritten::Same(ours),
            ) = &written
            {
                site_items::note(db, &source, id, (*ours, noted))?;
            }
            Ok(written)
        })?;
        if written.as_ref().is_ok_and(|written| !matches!(written, SiteWritten::Removed)) {
            self.parents.extend(parent);
        }
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
            Err(Undone::Unchanged | Undone::Outdated) => known.map(|known| known.our_id),
            Err(Undone::Failed(error)) => return Err(error.into()),
        })
    }

    /// Stores an item's image, unless it is already stored.
    fn image(&mut self, item: &Value) -> anyhow::Result<ImageHere> {
        let url = image_url(item);
        if url.is_empty() {
            return Ok(ImageHere::None);
        }
        if let Some(id) = self.state.pools.read_blocking(|db| images::fetched_from(db, url))? {
            return Ok(ImageHere::Id(id));
        }
        let host = web_url(url).and_then(|url| Some(url.host_str()?.to_owned()));
        let is_lost = host.as_ref().is_some_and(|host| self.lost_hosts.contains(host));
        let fetched = self.client.repeat(url, async || {
            match app::try_fetch_image(self.state, &self.images, url, None).await {
                Ok(Ok(file)) => Ok(Some(file)),
                Ok(Err(why)) => match Failure::of_image(why).filter(|_| !is_lost) {
                    Some(failure) => Err(Ok(failure)),
                    None => Ok(None),
                },
                Err(error) => Err(Err(error.into())),
            }
        });
        let file = match fetched {
            Ok(Some(file)) => file,
            Ok(None) | Err(Ok(_)) => {
                self.lost_hosts.extend(host.filter(|_| fetched.is_err()));
                log::warn!("the image {url} cannot be fetched; its item is imported without it");
                self.report.missing_images += 1;
                return Ok(ImageHere::Missing);
            }
            Err(Err(error)) => return Err(error),
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

    /// Adds an item's image, terms, venues and organizers, with the site's ids converted to ours.
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
                let known = self.state.pools.read_blocking(|db| {
                    let Some(known) = site_items::find(db, &source, id)? else { return Ok(None) };
                    let exists = exists(db, kind, known.our_id)?;
                    Ok::<_, Error>(Some(exists.then_some(known.our_id)))
                })?;
                let ours = match known {
                    Some(ours) => ours,
                    // Unpublished items might be missing from the lists.
                    None => self.take(kind, id, object)?,
                };
                ids.extend(ours.map(Value::from));
            }
            fields.insert(name.to_owned(), ids.into());
        }
        Ok(())
    }

    /// Returns our user with the same login as the author, or our first user if there is none.
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

    /// Sets the parents of terms that have changed or were written before their parents.
    fn set_parents(&mut self, seen: &HashSet<i64>) -> anyhow::Result<()> {
        for child in std::mem::take(&mut self.parents) {
            let source = source(self.client.root(), ItemKind::Term(child.taxonomy));
            self.queue.write(|db: &mut Db| {
                sql::one_writer(db)?;
                child.set(db, &source, seen)
            })?;
        }
        Ok(())
    }
}
