//! Plan features: everything about a plan except its rate.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::plan_feature;
use crate::model::plan::{Family, Features};

#[derive(Clone, Debug, Queryable, Insertable, AsChangeset)]
#[diesel(table_name = plan_feature, treat_none_as_null = true)]
pub struct FeatureRow {
    /// Plan code.
    pub plan_code: String,
    family: String,
    kanon_cost: Option<i32>,
    max_domain_size: i32,
    max_domains: i32,
    stealer_logs: bool,
    bulk_domain_add: bool,
    auto_subdomain: bool,
    customer_domains: bool,
    kanon: bool,
    bulk_check: bool,
    description: String,
}

/// Decodes a row. Fails if we don't know its plan family.
pub fn features(row: FeatureRow) -> Result<Features, DatabaseError> {
    let family = Family::from_word(&row.family)
        .ok_or_else(|| DatabaseError::broken(format!("plan family {}", row.family)))?;
    Ok(Features {
        family,
        kanon_cost: row.kanon_cost,
        max_domain_size: row.max_domain_size,
        max_domains: row.max_domains,
        stealer_logs: row.stealer_logs,
        bulk_domain_add: row.bulk_domain_add,
        auto_subdomain: row.auto_subdomain,
        customer_domains: row.customer_domains,
        kanon: row.kanon,
        bulk_check: row.bulk_check,
        description: row.description,
    })
}

fn row(code: &str, features: &Features) -> FeatureRow {
    FeatureRow {
        plan_code: code.to_owned(),
        family: features.family.word().to_owned(),
        kanon_cost: features.kanon_cost,
        max_domain_size: features.max_domain_size,
        max_domains: features.max_domains,
        stealer_logs: features.stealer_logs,
        bulk_domain_add: features.bulk_domain_add,
        auto_subdomain: features.auto_subdomain,
        customer_domains: features.customer_domains,
        kanon: features.kanon,
        bulk_check: features.bulk_check,
        description: features.description.clone(),
    }
}

/// Reads a plan's features.
pub fn get(db: &mut Db, code: &str) -> Result<Option<Features>, DatabaseError> {
    let row: Option<FeatureRow> = plan_feature::table.find(code).first(db).optional()?;
    row.map(features).transpose()
}

/// Saves a plan's features.
pub fn set(db: &mut Db, code: &str, new: &Features) -> Result<(), DatabaseError> {
    let row = row(code, new);
    on_backend!(db, conn => diesel::insert_into(plan_feature::table)
        .values(&row)
        .on_conflict(plan_feature::plan_code)
        .do_update()
        .set(&row)
        .execute(conn))?;
    Ok(())
}
