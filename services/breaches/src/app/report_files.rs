//! Downloadable reports on new exposures, generated while the addresses are being read.

use std::io;

use super::domain_names::{PIECE, Pieces};
use super::exposure_report::ReportRows;
use crate::model::instant;
use crate::model::spreadsheet::inert;
use crate::wire::{ReportTotals, ReportedAddress};

/// The report as a JSON object.
#[derive(Debug)]
pub struct ReportJson {
    rows: ReportRows,
    /// When the report was requested, in Unix seconds.
    now: i64,
    begun: bool,
    /// Whether any addresses have been written yet.
    is_filled: bool,
}

impl ReportJson {
    pub fn new(rows: ReportRows, now: i64) -> Self {
        Self { rows, now, begun: false, is_filled: false }
    }

    fn begin(&mut self, piece: &mut Vec<u8>) -> serde_json::Result<()> {
        self.begun = true;
        for (name, value) in [
            (&br#"{"Domain":"#[..], self.rows.domain.to_string()),
            (br#","Since":"#, instant::with_zone(self.rows.period.since)),
            (br#","Until":"#, instant::with_zone(self.now)),
        ] {
            piece.extend_from_slice(name);
            serde_json::to_writer(&mut *piece, &value)?;
        }
        piece.extend_from_slice(br#","Addresses":["#);
        Ok(())
    }

    fn end(&self, piece: &mut Vec<u8>) -> serde_json::Result<()> {
        piece.extend_from_slice(br#"],"Breaches":"#);
        serde_json::to_writer(&mut *piece, &self.rows.breaches())?;
        piece.extend_from_slice(br#","DataClasses":"#);
        serde_json::to_writer(&mut *piece, &self.rows.classes())?;
        let totals = serde_json::to_vec(&ReportTotals::from(self.rows.found()))?;
        // Append the totals to this object.
        piece.push(b',');
        piece.extend(totals.into_iter().skip(1));
        Ok(())
    }
}

impl Pieces for ReportJson {
    fn next_piece(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut piece = Vec::with_capacity(PIECE / 8);
        if !self.begun {
            self.begin(&mut piece)?;
        }
        while piece.len() < PIECE {
            let Some(row) = self.rows.next_row()? else {
                self.end(&mut piece)?;
                return Ok((piece, true));
            };
            if self.is_filled {
                piece.push(b',');
            }
            self.is_filled = true;
            let names = self.rows.breaches_of(&row).into_iter().map(|breach| breach.name.clone());
            let breaches = names.collect();
            let address = ReportedAddress { alias: row.alias, breaches, all_breaches: row.all };
            serde_json::to_writer(&mut piece, &address)?;
        }
        Ok((piece, false))
    }
}

/// The report as CSV, with one row for each address and new breach.
#[derive(Debug)]
pub struct ReportCsv {
    rows: ReportRows,
    begun: bool,
}

/// CSV header row.
const COLUMNS: [&str; 7] =
    ["Address", "Breach", "Title", "BreachDate", "AddedDate", "DataClasses", "AllBreaches"];

impl ReportCsv {
    pub fn new(rows: ReportRows) -> Self {
        Self { rows, begun: false }
    }
}

impl Pieces for ReportCsv {
    fn next_piece(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        if !self.begun {
            self.begun = true;
            writer.write_record(COLUMNS)?;
        }
        let (mut written, mut is_last) = (0, false);
        while written < PIECE {
            let Some(row) = self.rows.next_row()? else {
                is_last = true;
                break;
            };
            let address = format!("{}@{}", row.alias, self.rows.domain);
            let all = row.all.to_string();
            for breach in self.rows.breaches_of(&row) {
                let (added, classes) =
                    (instant::with_zone(breach.added), breach.data_classes.join(", "));
                let cells = [&address, &breach.name, &breach.title, &breach.breach_date];
                let cells = cells.into_iter().chain([&added, &classes, &all]);
                let cells: Vec<_> = cells.map(|cell| inert(cell)).collect();
                written += cells.iter().map(|cell| cell.len()).sum::<usize>();
                writer.write_record(cells.iter().map(|cell| cell.as_bytes()))?;
            }
        }
        let piece = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        Ok((piece, is_last))
    }
}
