//! Checks the examples that add crawlers to the server of buckets.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::{list, settings, text};
use super::pods::check_hardening;
use super::references::selects;
use super::rendering::{Rendering, render};

/// Returns the pod template of a CronJob or Deployment.
fn template(workload: &Value) -> &Value {
    match text(&workload["kind"]) {
        "CronJob" => &workload["spec"]["jobTemplate"]["spec"]["template"],
        _ => &workload["spec"]["template"],
    }
}

/// Returns the only pod template of a component.
fn template_of<'a>(rendering: &'a Rendering, component: &str) -> &'a Value {
    let workloads = rendering.of_kind("CronJob").chain(rendering.of_kind("Deployment"));
    let labelled =
        |pod: &&Value| pod["metadata"]["labels"]["app.kubernetes.io/component"] == component;
    let templates: Vec<_> = workloads.map(template).filter(labelled).collect();
    assert_eq!(templates.len(), 1, "{component}");
    templates[0]
}

/// Returns the ports that a pod may call.
fn egress(rendering: &Rendering, labels: &Value) -> BTreeSet<u64> {
    rendering
        .of_kind("NetworkPolicy")
        .filter(|policy| selects(&policy["spec"]["podSelector"]["matchLabels"], labels))
        .flat_map(|policy| list(&policy["spec"]["egress"]))
        .flat_map(|rule| list(&rule["ports"]))
        .filter_map(|port| port["port"].as_u64())
        .collect()
}

#[test]
fn crawlers_are_locked_down_and_reach_what_they_need() {
    let needs = |more: &[u64]| [&[53, 80, 443, 5432][..], more].concat();
    for (folder, component, needed) in [
        ("examples/crawl", "crawl", needs(&[])),
        ("examples/crawler", "crawler", needs(&[8123, 8443])),
    ] {
        let Some(rendering) = render(folder.to_owned()) else { return };
        let template = template_of(&rendering, component);
        let (labels, pod) = (&template["metadata"]["labels"], &template["spec"]);
        check_hardening(folder, pod);
        let container = &pod["containers"][0];
        assert!(text(&container["image"]).starts_with("quintet/buckets:"), "{folder}");
        let environment: BTreeMap<String, Option<String>> = list(&container["env"])
            .iter()
            .map(|one| (text(&one["name"]).to_owned(), one["value"].as_str().map(str::to_owned)))
            .collect();
        assert!(environment.contains_key("DATABASE_URL"), "{folder}");
        settings::check(folder, "buckets", &environment);
        for volume in list(&pod["volumes"]) {
            if let Some(claim) = volume["persistentVolumeClaim"]["claimName"].as_str() {
                assert!(rendering.find("PersistentVolumeClaim", claim).is_some(), "{claim}");
            }
        }
        let needed: BTreeSet<u64> = needed.into_iter().collect();
        assert_eq!(egress(&rendering, labels), needed, "{folder}");
        for server in rendering.of_kind("Service") {
            assert!(!selects(&server["spec"]["selector"], labels), "{folder}");
        }
    }
}
