//! Plans are seeded once, and the operator can then change them.

use auth::{KeyError, Plan, PlanChange, hide_plan, list_plans, seed_plans, set_plan};

use crate::House;

fn seeds() -> Vec<Plan> {
    vec![Plan::new("free", "Free", 60, 10), Plan::new("premium", "Premium", 300, 20)]
}

#[test]
fn plans_are_seeded_once_in_their_order() {
    let house = House::new();
    let pools = house.pools();
    assert!(pools.write_blocking(|db| seed_plans(db, &seeds())).unwrap());
    let change = PlanChange { per_minute: Some(90), ..PlanChange::default() };
    pools.write_blocking(|db| set_plan(db, "free", change)).unwrap();
    assert!(!house.pools().write_blocking(|db| seed_plans(db, &seeds())).unwrap());
    let plans = pools.read_blocking(list_plans).unwrap();
    let seen: Vec<_> =
        plans.iter().map(|plan| (plan.code.as_str(), plan.per_minute, plan.position)).collect();
    assert_eq!(seen, [("free", 90, 1), ("premium", 300, 2)]);
}

#[test]
fn hidden_plan_is_not_offered_and_its_keys_keep_working() {
    let house = House::new();
    let pools = house.pools();
    let now = house.now();
    let (_, text) = pools
        .write_blocking(|db| {
            seed_plans(db, &seeds())?;
            auth::issue(db, "alice", Some("free"), None, now)
        })
        .unwrap();
    pools.write_blocking(|db| hide_plan(db, "free")).unwrap();
    let refused = pools.write_blocking(|db| auth::issue(db, "bob", Some("free"), None, now));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the plan free is hidden: it is not offered for new keys"
    );
    let key = house.find(&pools, &text).unwrap();
    let plan = key.plan.unwrap();
    assert!(plan.hidden);
    assert_eq!(plan.quota(), auth::Quota { per_minute: 60, burst: 10 });
    let offer = PlanChange { hidden: Some(false), ..PlanChange::default() };
    pools.write_blocking(|db| set_plan(db, "free", offer)).unwrap();
    assert!(pools.write_blocking(|db| auth::issue(db, "bob", Some("free"), None, now)).is_ok());
}

#[test]
fn unknown_plan_is_refused_for_keys_and_hiding() {
    let house = House::new();
    let pools = house.pools();
    let key = pools.write_blocking(|db| auth::issue(db, "bob", Some("gold"), None, 0));
    assert_eq!(key.unwrap_err().to_string(), "there is no plan gold");
    let hidden = pools.write_blocking(|db| hide_plan(db, "gold"));
    assert!(matches!(hidden, Err(KeyError::NoPlan(_))));
}

#[test]
fn new_plan_is_last_and_its_burst_defaults_to_its_rate() {
    let house = House::new();
    let pools = house.pools();
    pools.write_blocking(|db| seed_plans(db, &seeds())).unwrap();
    let change = PlanChange { per_minute: Some(1_200), ..PlanChange::default() };
    let (plan, added) = pools.write_blocking(|db| set_plan(db, "gold", change)).unwrap();
    assert!(added);
    assert_eq!((plan.burst, plan.position, plan.name.as_str()), (1_200, 3, "gold"));
}

#[test]
fn plan_rules_are_enforced() {
    let house = House::new();
    let pools = house.pools();
    let set = |code: &str, per_minute: Option<u32>| {
        let change = PlanChange { per_minute, ..PlanChange::default() };
        pools.write_blocking(|db| set_plan(db, code, change)).map(|_| ())
    };
    assert!(set("Gold", Some(1)).unwrap_err().to_string().contains("lower-case"));
    assert!(set("gold", Some(0)).unwrap_err().to_string().contains("at least one"));
    let most = Plan::MOST;
    assert!(set("gold", Some(most + 1)).unwrap_err().to_string().contains("at most 10000000"));
    set("gold", Some(most)).unwrap();
    let plan = pools.read_blocking(|db| auth::plan(db, "gold")).unwrap().unwrap();
    assert_eq!((plan.per_minute, plan.burst), (most, most));
    assert!(set("silver", None).unwrap_err().to_string().contains("--per-minute"));
}
