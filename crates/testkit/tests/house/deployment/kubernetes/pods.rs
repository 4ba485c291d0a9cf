//! Requirements for every pod.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::{Ports, list, settings, text};
use super::{Rendering, renderings, service_of};

fn pod(workload: &Value) -> &Value {
    &workload["spec"]["template"]["spec"]
}

/// Checks that a pod is not root and not privileged, does not get a token, has a read-only file
/// system, and has resource limits.
pub fn check_hardening(place: &str, pod: &Value) {
    assert_eq!(pod["automountServiceAccountToken"], false, "{place}");
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{place}");
    assert_eq!(pod["securityContext"]["runAsUser"], 65532, "{place}");
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{place}");
    assert!(!list(&pod["containers"]).is_empty(), "{place}");
    for container in list(&pod["containers"]).iter().chain(list(&pod["initContainers"])) {
        let context = &container["securityContext"];
        assert_eq!(context["allowPrivilegeEscalation"], false, "{place}");
        assert_eq!(context["readOnlyRootFilesystem"], true, "{place}");
        assert_eq!(list(&context["capabilities"]["drop"]), ["ALL"], "{place}");
        let resources = &container["resources"];
        for (part, what) in [("requests", "cpu"), ("requests", "memory"), ("limits", "memory")] {
            assert!(!resources[part][what].is_null(), "{place}: no {part} of {what}");
        }
    }
}

/// Checks that all three probes use the admin port.
pub fn check_probes(place: &str, deployment: &Value) {
    let container = &pod(deployment)["containers"][0];
    let expected = [
        ("startupProbe", "/healthz"),
        ("livenessProbe", "/healthz"),
        ("readinessProbe", "/readyz"),
    ];
    for (probe, path) in expected {
        let request = &container[probe]["httpGet"];
        assert_eq!(request["port"], "admin", "{place}: {probe}");
        assert_eq!(request["path"], path, "{place}: {probe}");
    }
}

/// Returns the environment of a container: the ConfigMaps, overridden by its own variables.
fn environment(rendering: &Rendering, container: &Value) -> BTreeMap<String, Option<String>> {
    let mut found = BTreeMap::new();
    for source in list(&container["envFrom"]) {
        let name = text(&source["configMapRef"]["name"]);
        let map =
            rendering.find("ConfigMap", name).unwrap_or_else(|| panic!("no ConfigMap {name}"));
        for (name, value) in map["data"].as_object().unwrap() {
            found.insert(name.clone(), Some(text(value).to_owned()));
        }
    }
    for variable in list(&container["env"]) {
        let value = variable["value"].as_str().map(str::to_owned);
        found.insert(text(&variable["name"]).to_owned(), value);
    }
    found
}

#[test]
fn every_pod_is_locked_down_and_limited() {
    for rendering in renderings() {
        for workload in rendering.workloads() {
            let place = format!("{} {}", rendering.folder, workload["metadata"]["name"]);
            check_hardening(&place, pod(workload));
        }
    }
}

#[test]
fn every_deployment_probes_its_admin_port() {
    for rendering in renderings() {
        for deployment in rendering.of_kind("Deployment") {
            let place = format!("{} {}", rendering.folder, service_of(deployment));
            check_probes(&place, deployment);
        }
    }
}

#[test]
fn ports_match_the_service() {
    for rendering in renderings() {
        for deployment in rendering.of_kind("Deployment") {
            let service = service_of(deployment);
            let container = &pod(deployment)["containers"][0];
            let ports: BTreeMap<_, _> = list(&container["ports"])
                .iter()
                .map(|port| (text(&port["name"]), port["containerPort"].as_u64().unwrap()))
                .collect();
            let Ports { http, admin, .. } = Ports::of(service);
            let expected = BTreeMap::from([("http", http.into()), ("admin", admin.into())]);
            assert_eq!(ports, expected, "{} {service}", rendering.folder);
            let environment = environment(rendering, container);
            assert_eq!(environment["BIND"], Some(format!("0.0.0.0:{http}")), "{service}");
            assert_eq!(environment["ADMIN_BIND"], Some(format!("0.0.0.0:{admin}")), "{service}");
        }
    }
}

#[test]
fn environments_hold_only_settings() {
    for rendering in renderings() {
        for workload in rendering.workloads() {
            let service = service_of(workload);
            for container in list(&pod(workload)["containers"]) {
                let environment = environment(rendering, container);
                settings::check(&rendering.folder, service, &environment);
            }
        }
    }
}

#[test]
fn pod_is_killed_only_after_requests_could_finish() {
    for rendering in renderings() {
        for deployment in rendering.of_kind("Deployment") {
            let pod = pod(deployment);
            let container = &pod["containers"][0];
            let wait = container["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64().unwrap();
            let limit = environment(rendering, container)["SHUTDOWN_TIMEOUT"].clone().unwrap();
            let limit: u64 = limit.parse().unwrap();
            let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
            // The server stops at most 5 s after SHUTDOWN_TIMEOUT.
            assert!(grace >= wait + limit + 5, "{}: {grace} s", service_of(deployment));
        }
    }
}

#[test]
fn images_belong_to_the_service_and_have_a_tag() {
    for rendering in renderings() {
        for workload in rendering.workloads() {
            let service = service_of(workload);
            for container in list(&pod(workload)["containers"]) {
                let image = text(&container["image"]);
                let (name, tag) = image.rsplit_once(':').unwrap();
                assert!(name.ends_with(&format!("quintet/{service}")), "{image}");
                assert!(!tag.is_empty() && tag != "latest", "{image}");
            }
        }
    }
}

#[test]
fn password_replicas_only_read_the_corpus_that_the_job_writes() {
    let mount = |workload: &Value, path: &str| {
        let mounts = list(&pod(workload)["containers"][0]["volumeMounts"]).to_vec();
        let mount = mounts.into_iter().find(|mount| mount["mountPath"] == path).unwrap();
        let volume = list(&pod(workload)["volumes"])
            .iter()
            .find(|volume| volume["name"] == mount["name"])
            .map(|volume| text(&volume["persistentVolumeClaim"]["claimName"]).to_owned());
        (mount["readOnly"] == true, volume.unwrap())
    };
    for rendering in renderings() {
        for workload in rendering.workloads().filter(|w| service_of(w) == "passwords") {
            let reads_only = workload["kind"] == "Deployment";
            let expected = (reads_only, "passwords-corpus".to_owned());
            assert_eq!(mount(workload, "/data"), expected, "{}", rendering.folder);
        }
    }
}
