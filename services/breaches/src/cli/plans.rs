//! `plans`: the shared command, plus this service's plan features, audit events and JSON output.

use std::process::ExitCode;

use anyhow::Context as _;
use auth::{PlanColumns, PlansCommand};
use database::Db;
use serde_json::{Value, json};

use super::output::Output;
use crate::jobs::JobContext;
use crate::model::plan::{Family, Features};
use crate::store::{admin_events, plan_features};

/// The subcommand `plans`.
#[derive(clap::Args)]
pub struct Plans {
    #[command(subcommand)]
    command: PlansCommand<FeatureFlags>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    json: bool,
}

impl Plans {
    /// Returns whether the command only makes sense if there are plans already.
    pub fn needs_data(&self) -> bool {
        self.command.needs_data()
    }

    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let changed = match &self.command {
            PlansCommand::Set { code, .. } | PlansCommand::Hide { code } => Some(code.clone()),
            PlansCommand::List { .. } => None,
        };
        let columns = FeatureColumns { now: context.clock.unix(), detail: given(&self.command) };
        let done = self.command.run(&context.pools, &columns)?;
        if let (Some(code), true) = (changed, self.json) {
            let plan = plan_as_json(context, &columns, &code)?;
            Output { json: true }.print(&plan, "")?;
        }
        Ok(done)
    }
}

/// Lists the settings that `plans set` was given. A description may be long, so its text is left
/// out.
fn given(command: &PlansCommand<FeatureFlags>) -> String {
    let PlansCommand::Set { name, per_minute, burst, position, offer, further, .. } = command
    else {
        return String::new();
    };
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    let size = |value: Option<i32>| value.map(|value| value.to_string());
    let flag = |value: Option<bool>| value.map(|value| value.to_string());
    let settings = [
        ("name", name.clone()),
        ("per-minute", number(*per_minute)),
        ("burst", number(*burst)),
        ("position", number(*position)),
        ("offer", flag(offer.then_some(true))),
        ("family", further.family.map(|family| family.word().to_owned())),
        ("kanon-cost", number(further.kanon_cost.map(u32::from))),
        ("max-domain-size", size(further.max_domain_size)),
        ("max-domains", size(further.max_domains)),
        ("stealer-logs", flag(further.stealer_logs)),
        ("bulk-domain-add", flag(further.bulk_domain_add)),
        ("auto-subdomain", flag(further.auto_subdomain)),
        ("customer-domains", flag(further.customer_domains)),
        ("kanon", flag(further.kanon)),
        ("bulk-check", flag(further.bulk_check)),
        ("description", further.description.as_ref().map(|_| "changed".to_owned())),
    ];
    let shown = |(setting, value): (&str, Option<String>)| Some(format!("{setting} {}", value?));
    settings.into_iter().filter_map(shown).collect::<Vec<_>>().join(", ")
}

/// Returns a plan as printed by `plans list`.
fn plan_as_json(
    context: &JobContext,
    columns: &FeatureColumns,
    code: &str,
) -> anyhow::Result<Value> {
    let list = PlansCommand::<FeatureFlags>::List { json: true };
    let mut text = Vec::new();
    list.run_to(&context.pools, columns, &mut text)?;
    let plans: Vec<Value> = serde_json::from_slice(&text)?;
    Ok(plans.into_iter().find(|plan| plan["code"] == code).unwrap_or_default())
}

/// Additional flags of `plans set`.
#[derive(Clone, Debug, clap::Args)]
pub struct FeatureFlags {
    /// Plan family: core, pro, highrpm, test or free
    #[arg(long, value_parser = family)]
    family: Option<Family>,
    /// Cost of a range request in searches, 1 to 1000; 0 uses KANON_COST
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u16).range(..=1_000))]
    kanon_cost: Option<u16>,
    /// Maximum number of breached addresses in a searchable domain; 2147483647 means unlimited
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    max_domain_size: Option<i32>,
    /// Maximum number of domains with more than ten breached addresses
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    max_domains: Option<i32>,
    /// Include the stealer-log operations
    #[arg(long, value_name = "BOOLEAN")]
    stealer_logs: Option<bool>,
    /// Include domain verification through the API
    #[arg(long, value_name = "BOOLEAN")]
    bulk_domain_add: Option<bool>,
    /// Verify subdomains of verified domains automatically
    #[arg(long, value_name = "BOOLEAN")]
    auto_subdomain: Option<bool>,
    /// Allow adding the domains of customers
    #[arg(long, value_name = "BOOLEAN")]
    customer_domains: Option<bool>,
    /// Include searches by hash prefix
    #[arg(long, value_name = "BOOLEAN")]
    kanon: Option<bool>,
    /// Include bulk checks of addresses at verified domains
    #[arg(long, value_name = "BOOLEAN")]
    bulk_check: Option<bool>,
    /// One sentence that describes the plan
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

fn family(word: &str) -> Result<Family, String> {
    Family::from_word(word).ok_or_else(|| "must be core, pro, highrpm, test or free".to_owned())
}

/// Adds plan features to the shared command.
struct FeatureColumns {
    /// Time of the command in Unix seconds.
    now: i64,
    /// Details for the audit log.
    detail: String,
}

impl PlanColumns<FeatureFlags> for FeatureColumns {
    fn set(&self, db: &mut Db, code: &str, flags: &FeatureFlags) -> anyhow::Result<()> {
        let old = match plan_features::get(db, code)? {
            Some(old) => old,
            None => no_features(flags.family.context("a new plan needs --family")?),
        };
        let cost = match flags.kanon_cost {
            None => old.kanon_cost,
            Some(0) => None,
            Some(cost) => Some(i32::from(cost)),
        };
        let features = Features {
            family: flags.family.unwrap_or(old.family),
            kanon_cost: cost,
            max_domain_size: flags.max_domain_size.unwrap_or(old.max_domain_size),
            max_domains: flags.max_domains.unwrap_or(old.max_domains),
            stealer_logs: flags.stealer_logs.unwrap_or(old.stealer_logs),
            bulk_domain_add: flags.bulk_domain_add.unwrap_or(old.bulk_domain_add),
            auto_subdomain: flags.auto_subdomain.unwrap_or(old.auto_subdomain),
            customer_domains: flags.customer_domains.unwrap_or(old.customer_domains),
            kanon: flags.kanon.unwrap_or(old.kanon),
            bulk_check: flags.bulk_check.unwrap_or(old.bulk_check),
            description: flags.description.clone().unwrap_or(old.description),
        };
        plan_features::set(db, code, &features)?;
        Ok(())
    }

    fn show(&self, db: &mut Db, code: &str) -> anyhow::Result<Vec<(&'static str, Value)>> {
        let features = plan_features::get(db, code)?.unwrap_or_else(|| no_features(Family::Free));
        Ok(vec![
            ("family", json!(features.family.word())),
            ("kanon_cost", json!(features.kanon_cost)),
            ("max_domain_size", json!(features.max_domain_size)),
            ("max_domains", json!(features.max_domains)),
            ("stealer_logs", json!(features.stealer_logs)),
            ("bulk_domain_add", json!(features.bulk_domain_add)),
            ("auto_subdomain", json!(features.auto_subdomain)),
            ("customer_domains", json!(features.customer_domains)),
            ("kanon", json!(features.kanon)),
            ("bulk_check", json!(features.bulk_check)),
        ])
    }

    fn record(&self, db: &mut Db, action: &str, code: &str) -> anyhow::Result<()> {
        Ok(admin_events::add(db, self.now, action, code, &self.detail)?)
    }
}

fn no_features(family: Family) -> Features {
    Features {
        family,
        kanon_cost: None,
        max_domain_size: 0,
        max_domains: 0,
        stealer_logs: false,
        bulk_domain_add: false,
        auto_subdomain: false,
        customer_domains: false,
        kanon: false,
        bulk_check: false,
        description: String::new(),
    }
}
