//! The addresses of a domain as a file for spreadsheets.

use std::io;

use domain::DomainName;

use crate::app::{DomainNames, Pieces};
use crate::model::spreadsheet::inert;

/// Number of bytes per piece of the table.
const PIECE: usize = 64 * 1024;

/// A CSV file of addresses, their numbers of breaches and the names of these. It is generated while
/// it is read.
pub struct DomainTable {
    domain: DomainName,
    names: DomainNames,
    begun: bool,
}

impl DomainTable {
    /// Creates the table of a search result.
    pub fn new(domain: DomainName, names: DomainNames) -> Self {
        Self { domain, names, begun: false }
    }
}

impl Pieces for DomainTable {
    fn next_piece(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        if !self.begun {
            self.begun = true;
            writer.write_record(["Address", "Breaches", "Sites"])?;
        }
        let (mut written, mut last) = (0, false);
        while written < PIECE {
            let Some((alias, breaches)) = self.names.next_alias()? else {
                last = true;
                break;
            };
            let address = format!("{alias}@{}", self.domain);
            let address = inert(&address);
            let (count, sites) = (breaches.len().to_string(), breaches.join(" "));
            written += address.len() + sites.len();
            writer.write_record([address.as_ref(), &count, &sites])?;
        }
        let piece = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        Ok((piece, last))
    }
}
