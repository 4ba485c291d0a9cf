//! A domain's addresses as a spreadsheet.

use std::io;

use domain::DomainName;

use crate::app::{DomainNames, Pieces};
use crate::model::spreadsheet::inert;

/// Size of a piece in bytes.
const PIECE: usize = 64 * 1024;

/// CSV file of addresses, each with the number and names of its breaches. It's generated lazily.
pub struct DomainTable {
    domain: DomainName,
    names: DomainNames,
    begun: bool,
}

impl DomainTable {
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
