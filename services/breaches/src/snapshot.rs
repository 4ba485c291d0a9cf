//! What every request reads and no request asks the database for: catalogue, opt-outs, blocks.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};

use actix_web::web::Bytes;
use database::{DatabaseError, Db};
use ipnet::IpNet;

use crate::model::{Breach, Catalogue};
use crate::store::block::Block;
use crate::store::{self as tables, meta};
use crate::wire;

/// A value that is replaced as a whole while others read it.
#[derive(Debug, Default)]
pub struct Shared<T>(RwLock<Arc<T>>);

impl<T> Shared<T> {
    /// Holds a first value.
    pub fn new(value: T) -> Self {
        Self(RwLock::new(Arc::new(value)))
    }

    /// The value as it is now.
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another value in its place.
    pub fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }
}

/// The catalogue with its answers already written.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The breaches.
    pub catalogue: Catalogue,
    /// The whole answer of the catalogue operation.
    pub listing: Bytes,
    /// Strong entity tag, with its quotes.
    pub etag: String,
    full: Vec<String>,
    short: Vec<String>,
}

impl Snapshot {
    /// Writes the answers of a catalogue.
    pub fn new(catalogue: Catalogue) -> Result<Self, serde_json::Error> {
        #[derive(serde::Serialize)]
        #[serde(rename_all = "PascalCase")]
        struct Short<'a> {
            name: &'a str,
        }
        let breaches = catalogue.all();
        let full = breaches
            .iter()
            .map(|breach| serde_json::to_string(&wire::Breach::from(breach)))
            .collect::<Result<Vec<_>, _>>()?;
        let short = breaches
            .iter()
            .map(|breach| serde_json::to_string(&Short { name: &breach.name }))
            .collect::<Result<Vec<_>, _>>()?;
        let etag = format!("\"{}-{}\"", catalogue.version, catalogue.changed_at);
        let mut snapshot = Self { listing: Bytes::new(), catalogue, etag, full, short };
        snapshot.listing = snapshot.list(|_| true).into();
        Ok(snapshot)
    }

    /// The listed breaches that pass, in full.
    pub fn list(&self, wanted: impl Fn(&Breach) -> bool) -> String {
        let breaches = self.catalogue.all().iter().enumerate();
        let places: Vec<usize> = breaches
            .filter(|(_, breach)| breach.listed() && wanted(breach))
            .map(|(place, _)| place)
            .collect();
        self.array(&places, false)
    }

    /// One breach in full.
    pub fn one(&self, place: usize) -> String {
        self.full.get(place).cloned().unwrap_or_default()
    }

    /// The breaches at some places as a JSON array.
    pub fn array(&self, places: &[usize], truncated: bool) -> String {
        let texts = if truncated { &self.short } else { &self.full };
        let chosen = || places.iter().filter_map(|place| texts.get(*place));
        let size = chosen().map(|text| text.len() + 1).sum::<usize>();
        let mut array = String::with_capacity(size + 2);
        array.push('[');
        for text in chosen() {
            if array.len() > 1 {
                array.push(',');
            }
            array.push_str(text);
        }
        array.push(']');
        array
    }
}

/// The block list, ready to be asked.
#[derive(Debug, Default)]
pub struct Blocks {
    networks: Vec<(IpNet, Option<i64>)>,
    agents: Vec<(String, Option<i64>)>,
}

impl Blocks {
    /// Reads the entries; those that make no sense are left out with a warning.
    pub fn new(rows: Vec<Block>) -> Self {
        let mut blocks = Self::default();
        let mut strange = HashSet::new();
        for row in rows {
            if let Some(cidr) = row.cidr {
                match cidr.parse() {
                    Ok(network) => blocks.networks.push((network, row.until)),
                    Err(_) => drop(strange.insert(row.id)),
                }
            }
            if let Some(agent) = row.user_agent {
                blocks.agents.push((agent.to_lowercase(), row.until));
            }
        }
        if !strange.is_empty() {
            log::warn!("entries of the block list are not networks: {strange:?}");
        }
        blocks
    }

    /// Whether a client is blocked.
    pub fn hit(&self, address: IpAddr, agent: Option<&str>, now: i64) -> bool {
        let holds = |until: Option<i64>| until.is_none_or(|end| now < end);
        if self.networks.iter().any(|(network, until)| network.contains(&address) && holds(*until))
        {
            return true;
        }
        if self.agents.is_empty() {
            return false;
        }
        let agent = agent.unwrap_or_default().to_lowercase();
        self.agents.iter().any(|(part, until)| agent.contains(part.as_str()) && holds(*until))
    }
}

/// Reads the catalogue and writes its answers.
pub fn load(db: &mut Db) -> Result<Snapshot, DatabaseError> {
    Snapshot::new(tables::breach::catalogue(db)?).map_err(DatabaseError::broken)
}

/// The versions that tell whether a reload is due.
pub fn versions(db: &mut Db) -> Result<meta::Versions, DatabaseError> {
    meta::versions(db)
}
