//! `plans list`, `plans set`, `plans hide`.

use std::io::Write;
use std::process::ExitCode;

use database::{Db, Pools};
use serde_json::{Map, Value, json};

use super::table;
use crate::{Plan, PlanChange, hide_plan, list_plans, set_plan};

/// The subcommand `plans`, with flags `X` for the service's own columns.
///
/// ```
/// use auth::PlanColumns;
/// use database::Db;
///
/// /// Additional flags of `plans set`.
/// #[derive(clap::Args, Clone, Debug)]
/// struct Depth {
///     /// Number of results that a search may reach
///     #[arg(long)]
///     depth: Option<u32>,
/// }
///
/// struct Packages;
///
/// impl PlanColumns<Depth> for Packages {
///     fn set(&self, db: &mut Db, code: &str, flags: &Depth) -> anyhow::Result<()> {
///         // Write the row of the service's own table for `code`.
/// #       let _ = (db, code, flags);
///         Ok(())
///     }
/// }
///
/// #[derive(clap::Subcommand)]
/// enum Command {
///     /// Plans of keys
///     #[command(subcommand)]
///     Plans(auth::PlansCommand<Depth>),
/// }
/// ```
#[derive(Clone, Debug, clap::Subcommand)]
pub enum PlansCommand<X: clap::Args = NoColumns> {
    /// List all plans, including hidden ones
    List {
        /// Print a JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Create or update a plan. Options that are omitted leave existing values unchanged
    Set {
        /// Plan code
        code: String,
        /// Display name
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        /// Sustained rate limit per key, in requests per minute, 1 to 10000000
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(Plan::MOST)))]
        per_minute: Option<u32>,
        /// Number of requests that a key can make at once when its quota is full, 1 to 10000000
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(Plan::MOST)))]
        burst: Option<u32>,
        /// Position of the plan in lists
        #[arg(long, value_name = "N")]
        position: Option<u32>,
        /// Make a hidden plan available again
        #[arg(long)]
        offer: bool,
        /// The service's own flags.
        #[command(flatten)]
        further: X,
    },
    /// Stop offering a plan. Existing keys keep working
    Hide {
        /// Plan code
        code: String,
    },
}

/// The service's own columns for plans, stored in a separate table with the plan code as its key.
pub trait PlanColumns<X> {
    /// Writes the columns. Called in the same transaction, right after the plan itself has been
    /// written. The plan can be new.
    ///
    /// # Errors
    /// Returns a one-line message for the operator, upon which the transaction is rolled back.
    fn set(&self, db: &mut Db, code: &str, flags: &X) -> anyhow::Result<()>;

    /// Returns the name and value of each column for `plans list`. All plans must have the columns
    /// in the same order.
    ///
    /// # Errors
    /// Returns any database error.
    fn show(&self, db: &mut Db, code: &str) -> anyhow::Result<Vec<(&'static str, Value)>> {
        let _ = (db, code);
        Ok(Vec::new())
    }

    /// Records a change in the service's audit log. Called in the transaction of the change.
    /// `action` is the command, such as `plans set`.
    ///
    /// # Errors
    /// Returns a one-line message for the operator, upon which the transaction is rolled back.
    fn record(&self, db: &mut Db, action: &str, code: &str) -> anyhow::Result<()> {
        let _ = (db, action, code);
        Ok(())
    }
}

/// Used by services without plan columns, such as the generator.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(about = None, long_about = None)]
pub struct NoColumns {}

impl PlanColumns<NoColumns> for NoColumns {
    fn set(&self, _: &mut Db, _: &str, _: &NoColumns) -> anyhow::Result<()> {
        Ok(())
    }
}

type Further = Vec<(&'static str, Value)>;

impl<X: clap::Args> PlansCommand<X> {
    /// Returns whether the command only makes sense if there are plans already. `set` can add the
    /// first one.
    pub fn needs_data(&self) -> bool {
        !matches!(self, Self::Set { .. })
    }

    /// Runs the command, printing its results to stdout.
    ///
    /// # Errors
    /// Returns a one-line message for the operator; the exit code is 1.
    pub fn run(self, pools: &Pools, columns: &dyn PlanColumns<X>) -> anyhow::Result<ExitCode> {
        self.run_to(pools, columns, &mut std::io::stdout().lock())
    }

    /// Runs the command, writing its results to `out`.
    ///
    /// # Errors
    /// Returns a one-line message for the operator.
    pub fn run_to(
        self,
        pools: &Pools,
        columns: &dyn PlanColumns<X>,
        out: &mut dyn Write,
    ) -> anyhow::Result<ExitCode> {
        match self {
            Self::List { json } => {
                let plans = pools.read_blocking(|db| with_columns(db, columns))?;
                if json { print_json(out, &plans)? } else { print_table(out, &plans)? }
            }
            Self::Set { code, name, per_minute, burst, position, offer, further } => {
                let hidden = offer.then_some(false);
                let change = PlanChange { name, per_minute, burst, position, hidden };
                let (_, added) = pools.write_blocking(|db| -> anyhow::Result<(Plan, bool)> {
                    let done = set_plan(db, &code, change)?;
                    columns.set(db, &code, &further)?;
                    columns.record(db, "plans set", &code)?;
                    Ok(done)
                })?;
                log::info!(target: "notice", "plan {code} {}", if added { "added" } else { "changed" });
            }
            Self::Hide { code } => {
                pools.write_blocking(|db| -> anyhow::Result<()> {
                    hide_plan(db, &code)?;
                    columns.record(db, "plans hide", &code)
                })?;
                log::info!(target: "notice", "plan {code} is hidden; its keys keep working");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn with_columns<X>(
    db: &mut Db,
    columns: &dyn PlanColumns<X>,
) -> anyhow::Result<Vec<(Plan, Further)>> {
    let plans = list_plans(db)?;
    plans
        .into_iter()
        .map(|plan| {
            let further = columns.show(db, &plan.code)?;
            Ok((plan, further))
        })
        .collect()
}

fn print_json(out: &mut dyn Write, plans: &[(Plan, Further)]) -> anyhow::Result<()> {
    let plans: Vec<Value> = plans.iter().map(|(plan, further)| as_json(plan, further)).collect();
    writeln!(out, "{}", Value::from(plans))?;
    Ok(())
}

fn as_json(plan: &Plan, further: &Further) -> Value {
    let mut members = Map::new();
    members.insert("code".to_owned(), json!(plan.code));
    members.insert("name".to_owned(), json!(plan.name));
    members.insert("per_minute".to_owned(), json!(plan.per_minute));
    members.insert("burst".to_owned(), json!(plan.burst));
    members.insert("position".to_owned(), json!(plan.position));
    members.insert("hidden".to_owned(), json!(plan.hidden));
    members.extend(further.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Value::Object(members)
}

fn print_table(out: &mut dyn Write, plans: &[(Plan, Further)]) -> anyhow::Result<()> {
    let common = ["CODE", "NAME", "PER MINUTE", "BURST", "OFFERED"].map(str::to_owned);
    let further = plans.first().map(|(_, further)| further.as_slice()).unwrap_or_default();
    let further = further.iter().map(|(name, _)| name.to_uppercase().replace('_', " "));
    let titles: Vec<String> = common.into_iter().chain(further).collect();
    let rows: Vec<Vec<String>> =
        plans.iter().map(|(plan, further)| as_row(plan, further)).collect();
    table::print(out, &titles, &rows)?;
    Ok(())
}

fn as_row(plan: &Plan, further: &Further) -> Vec<String> {
    let mut row = vec![
        plan.code.clone(),
        plan.name.clone(),
        plan.per_minute.to_string(),
        plan.burst.to_string(),
        if plan.hidden { "no" } else { "yes" }.to_owned(),
    ];
    row.extend(further.iter().map(|(_, value)| match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }));
    row
}
