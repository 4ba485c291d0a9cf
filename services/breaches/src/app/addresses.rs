//! Collects all data stored about an address.

use database::{DatabaseError, Db};
use domain::EmailAddress;

use crate::model::OptOut;
use crate::store::{accounts, breaches, mail_tokens, opt_outs, pastes, stealer_logs, subscribers};
use crate::wire;

/// Everything stored about an address, as shown to the operator.
#[derive(Debug, serde::Serialize)]
pub struct HeldData {
    stored: bool,
    sha1: String,
    breaches: Vec<String>,
    pastes: Vec<wire::Paste>,
    websites: Vec<String>,
    /// Database code of the opt-out choice.
    opt_out: Option<i16>,
    /// Subscriber id.
    subscriber: Option<i64>,
    /// Number of email links sent to this address, used or not.
    mail_links: i64,
}

/// Collects everything stored about an address.
///
/// # Errors
/// Returns an error if a query fails.
pub fn held_data(db: &mut Db, email: &EmailAddress) -> Result<HeldData, DatabaseError> {
    let catalogue = breaches::catalogue(db)?;
    let row = accounts::find(db, email)?;
    let (mut names, mut found_pastes, mut websites) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(row) = &row {
        let all = catalogue.names(&row.breaches, |_| true);
        names.extend(all.into_iter().map(str::to_owned));
        let of_account = pastes::of_account(db, (row.k, row.seq))?;
        found_pastes.extend(of_account.into_iter().map(wire::Paste::from));
        let pairs = stealer_logs::websites(db, (row.k, row.seq))?;
        websites.extend(pairs.into_iter().map(|(website, _)| website));
    }
    Ok(HeldData {
        stored: row.is_some(),
        sha1: email.sha1().to_string(),
        breaches: names,
        pastes: found_pastes,
        websites,
        opt_out: opt_outs::get(db, &email.sha1())?.map(OptOut::kind),
        subscriber: subscribers::id(db, email)?,
        mail_links: mail_tokens::count(db, email.as_str())?,
    })
}
