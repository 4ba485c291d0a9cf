//! Checks references between objects, by name and by label.

use serde_json::Value;

use super::super::{list, text};
use super::{renderings, service_of};

fn labels(workload: &Value) -> &Value {
    &workload["spec"]["template"]["metadata"]["labels"]
}

/// Returns whether a selector matches these labels. Unlike in Kubernetes, an empty selector matches
/// nothing.
pub fn selects(selector: &Value, labels: &Value) -> bool {
    selector.as_object().is_some_and(|pairs| {
        !pairs.is_empty() && pairs.iter().all(|(name, value)| labels[name] == *value)
    })
}

#[test]
fn deployments_select_their_own_pods() {
    for rendering in renderings() {
        for deployment in rendering.of_kind("Deployment") {
            let selector = &deployment["spec"]["selector"]["matchLabels"];
            assert!(selects(selector, labels(deployment)), "{}", rendering.folder);
            let taken = rendering.workloads().filter(|other| selects(selector, labels(other)));
            assert_eq!(taken.count(), 1, "{} {}", rendering.folder, service_of(deployment));
            for spread in list(&deployment["spec"]["template"]["spec"]["topologySpreadConstraints"])
            {
                let selector = &spread["labelSelector"]["matchLabels"];
                assert!(selects(selector, labels(deployment)), "{}", rendering.folder);
            }
        }
    }
}

#[test]
fn services_and_budgets_select_one_deployment_and_no_job() {
    for rendering in renderings() {
        let services = rendering.of_kind("Service").map(|o| (o, &o["spec"]["selector"]));
        let budgets = rendering
            .of_kind("PodDisruptionBudget")
            .map(|object| (object, &object["spec"]["selector"]["matchLabels"]));
        let mut seen = 0;
        for (object, selector) in services.chain(budgets) {
            let taken: Vec<_> = rendering
                .workloads()
                .filter(|workload| selects(selector, labels(workload)))
                .map(|workload| (text(&workload["kind"]), service_of(workload)))
                .collect();
            assert_eq!(taken, [("Deployment", service_of(object))], "{}", rendering.folder);
            seen += 1;
        }
        assert_eq!(seen, 2 * rendering.of_kind("Deployment").count(), "{}", rendering.folder);
    }
}

#[test]
fn services_lead_to_named_ports() {
    for rendering in renderings() {
        for service in rendering.of_kind("Service") {
            let deployment = rendering.find("Deployment", text(&service["metadata"]["name"]));
            let ports: Vec<_> =
                list(&deployment.unwrap()["spec"]["template"]["spec"]["containers"][0]["ports"])
                    .iter()
                    .map(|port| text(&port["name"]))
                    .collect();
            let targets: Vec<_> =
                list(&service["spec"]["ports"]).iter().map(|p| text(&p["targetPort"])).collect();
            assert_eq!(targets, ports, "{}", rendering.folder);
        }
    }
}

#[test]
fn network_policies_cover_every_pod_of_the_service() {
    for rendering in renderings() {
        for workload in rendering.workloads() {
            if rendering.folder == "services/passwords/build" {
                continue;
            }
            let covered = rendering.of_kind("NetworkPolicy").any(|policy| {
                let selector = &policy["spec"]["podSelector"];
                let labels = labels(workload);
                selects(&selector["matchLabels"], labels)
                    && list(&selector["matchExpressions"]).iter().all(|rule| {
                        assert_eq!(rule["operator"], "In");
                        list(&rule["values"]).contains(&labels[text(&rule["key"])])
                    })
            });
            assert!(covered, "{} {}", rendering.folder, workload["metadata"]["name"]);
        }
    }
}

#[test]
fn autoscalers_ingresses_and_accounts_name_what_exists() {
    for rendering in renderings() {
        let folder = &rendering.folder;
        for scaler in rendering.of_kind("HorizontalPodAutoscaler") {
            let target = text(&scaler["spec"]["scaleTargetRef"]["name"]);
            let deployment = rendering.find("Deployment", target).unwrap();
            assert_eq!(deployment["spec"]["replicas"], Value::Null, "{folder}: two owners");
        }
        for ingress in rendering.of_kind("Ingress") {
            let rule = &ingress["spec"]["rules"][0];
            let backend = &rule["http"]["paths"][0]["backend"]["service"];
            let service = rendering.find("Service", text(&backend["name"])).unwrap();
            let ports = list(&service["spec"]["ports"]);
            assert!(ports.iter().any(|port| port["name"] == backend["port"]["name"]), "{folder}");
            let name = service_of(ingress);
            let host = text(&rule["host"]);
            assert!(host.starts_with(&format!("{name}.")), "{folder}: {host}");
            for tls in list(&ingress["spec"]["tls"]) {
                assert_eq!(list(&tls["hosts"]), [host], "{folder}");
                assert_eq!(tls["secretName"], format!("{name}-tls"), "{folder}");
            }
            let public = rendering
                .of_kind("ConfigMap")
                .find(|map| service_of(map) == name)
                .map(|map| text(&map["data"]["PUBLIC_URL"]).to_owned())
                .unwrap();
            assert_eq!(public.split_once("://").unwrap().1, host, "{folder}");
        }
        for workload in rendering.of_kind("Deployment") {
            let account = text(&workload["spec"]["template"]["spec"]["serviceAccountName"]);
            let account = rendering.find("ServiceAccount", account).unwrap();
            assert_eq!(account["automountServiceAccountToken"], false, "{folder}");
        }
    }
}

#[test]
fn claims_are_declared() {
    for rendering in renderings().iter().filter(|r| r.of_kind("Deployment").count() > 0) {
        for workload in rendering.workloads() {
            let pod = &workload["spec"]["template"]["spec"];
            let volumes: Vec<_> =
                list(&pod["volumes"]).iter().map(|volume| text(&volume["name"])).collect();
            for mount in list(&pod["containers"][0]["volumeMounts"]) {
                assert!(volumes.contains(&text(&mount["name"])), "{}", rendering.folder);
            }
            for volume in list(&pod["volumes"]) {
                if let Some(claim) = volume["persistentVolumeClaim"]["claimName"].as_str() {
                    let found = rendering.find("PersistentVolumeClaim", claim);
                    assert!(found.is_some(), "{}: no claim {claim}", rendering.folder);
                }
            }
        }
    }
}

#[test]
fn overlays_have_one_namespace_that_admits_only_restricted_pods() {
    for rendering in renderings().iter().filter(|r| ["dev", "prod"].contains(&r.folder.as_str())) {
        let namespace = rendering.of_kind("Namespace").next().unwrap();
        let labels = &namespace["metadata"]["labels"];
        assert_eq!(labels["pod-security.kubernetes.io/enforce"], "restricted");
        for object in rendering.objects().iter().filter(|object| object["kind"] != "Namespace") {
            let found = &object["metadata"]["namespace"];
            assert_eq!(*found, namespace["metadata"]["name"], "{}", object["metadata"]["name"]);
        }
    }
}
