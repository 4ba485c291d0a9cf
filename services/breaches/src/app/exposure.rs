//! Exposures of an address, as shown to its owner or to the public.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use auth::{QuotaId, Rate};
use database::Db;
use domain::EmailAddress;

use super::context::RequestContext;
use crate::error::Error;
use crate::model::{Breach, OptOut, paste as rules};
use crate::state::State;
use crate::store::{accounts, pastes, stealer_logs};
use crate::wire;

/// Limit on public searches on the home page per client, as (count, period).
const PUBLIC_RATE: (u32, Duration) = (10, Duration::from_secs(60));

/// The breaches, pastes and websites of an address.
#[derive(Clone, Debug, Default)]
pub struct Exposure {
    /// Sorted by title.
    pub breaches: Vec<Breach>,
    /// Newest first.
    pub pastes: Vec<wire::Paste>,
    /// Exposed data classes, most frequent first, each with its number of breaches.
    pub data_classes: Vec<(String, usize)>,
    /// Websites where the address was captured. Shown only to its owner.
    pub websites: Vec<String>,
}

/// Searches for an address on behalf of an anonymous visitor.
///
/// # Errors
/// [`Error::TooMany`] if the client searches too often, or a database error.
pub async fn public_exposure(
    state: &State,
    client: IpAddr,
    address: &EmailAddress,
) -> Result<Exposure, Error> {
    let (count, period) = PUBLIC_RATE;
    let id = QuotaId::Address(client).purpose("page-search");
    let charged = state.quotas().check(id, Rate::per(count, period), 1);
    charged.map_err(|error| Error::TooMany(error.retry_after))?;
    exposure(state, address, Viewer::Anybody).await
}

/// Searches for an address on behalf of its owner.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn own_exposure(state: &State, email: &str) -> Result<Exposure, Error> {
    let address = EmailAddress::parse(email).map_err(|_| Error::Email)?;
    exposure(state, &address, Viewer::Owner).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Viewer {
    Anybody,
    Owner,
}

async fn exposure(
    state: &State,
    address: &EmailAddress,
    viewer: Viewer,
) -> Result<Exposure, Error> {
    let (context, address) = (RequestContext::new(state), address.clone());
    let read = move |db: &mut Db| {
        let opt_out = context.opt_out(db, &address.sha1())?;
        let hidden = match viewer {
            Viewer::Anybody => opt_out.is_some(),
            Viewer::Owner => opt_out == Some(OptOut::Breaches),
        };
        let row = if hidden { None } else { accounts::find(db, &address)? };
        let Some(row) = row else { return Ok(Exposure::default()) };
        let shown = match viewer {
            Viewer::Anybody => Breach::shown_for_address,
            Viewer::Owner => Breach::shown_for_domain,
        };
        let catalogue = context.catalogue();
        let indexes = catalogue.indexes(&row.breaches, shown);
        let breaches: Vec<&Breach> = indexes.iter().map(|index| &catalogue.all()[*index]).collect();
        let mut found = pastes::of_account(db, (row.k, row.seq))?;
        found.retain(|paste| !rules::is_opt_out_mark(&paste.source));
        rules::sort(&mut found);
        let mut websites = Vec::new();
        if viewer == Viewer::Owner {
            let pairs = stealer_logs::websites(db, (row.k, row.seq))?;
            websites.extend(pairs.into_iter().filter_map(|(website, breach)| {
                let breach = u16::try_from(breach).ok().and_then(|id| catalogue.by_id(id));
                breach.is_some_and(Breach::shown_for_domain).then_some(website)
            }));
            websites.sort_unstable();
            websites.dedup();
        }
        Ok::<_, Error>(Exposure {
            data_classes: data_classes(&breaches),
            breaches: breaches.into_iter().cloned().collect(),
            pastes: found.into_iter().map(wire::Paste::from).collect(),
            websites,
        })
    };
    state.pools().read(read).await
}

fn data_classes(breaches: &[&Breach]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for class in breaches.iter().flat_map(|breach| &breach.data_classes) {
        *counts.entry(class).or_default() += 1;
    }
    let mut classes: Vec<_> = counts.into_iter().map(|(name, n)| (name.to_owned(), n)).collect();
    classes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    classes
}
