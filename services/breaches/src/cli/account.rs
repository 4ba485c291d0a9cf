//! `account export`.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use database::Db;

use crate::jobs::JobContext;
use crate::model::id_list;
use crate::store::{accounts, breaches};

/// The subcommand `account`.
#[derive(clap::Subcommand)]
pub enum AccountCommand {
    /// Export the addresses in a breach
    Export {
        /// Name of the breach
        #[arg(long, value_name = "NAME")]
        breach: String,
        /// Print one JSON string per line
        #[arg(long)]
        json: bool,
    },
}

impl AccountCommand {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self::Export { breach, json } = self;
        let mut out = BufWriter::new(std::io::stdout().lock());
        batch::until_closed(export(context, &breach, json, &mut out))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn export(
    context: &JobContext,
    breach: &str,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut db = context.pools.connect()?;
    let id = breaches::by_name(&mut db, breach)?
        .with_context(|| format!("there is no breach {breach}"))?
        .id;
    let written = write_addresses(&mut db, id, json, out);
    written.context("the output is incomplete; run the command again")
}

fn write_addresses(
    db: &mut Db,
    breach: u16,
    json: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut pages = accounts::Pages::after(db, (i64::MIN, -1))?;
    loop {
        let rows = pages.next(db)?;
        if rows.is_empty() {
            break;
        }
        for row in rows.iter().filter(|row| id_list::contains(&row.breaches, breach)) {
            let address = row.address();
            if json {
                writeln!(out, "{}", serde_json::to_string(&address)?)?;
            } else {
                writeln!(out, "{address}")?;
            }
        }
    }
    Ok(out.flush()?)
}
