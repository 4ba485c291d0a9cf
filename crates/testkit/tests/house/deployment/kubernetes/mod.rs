//! Checks `deploy/k8s`, both as files and as rendered.

mod crawlers;
mod pods;
mod references;
mod rendering;

use std::collections::BTreeMap;

use serde_json::Value;

use super::{SERVICES, files, list, root, settings, text, yaml};
use rendering::{Rendering, renderings};

#[test]
fn every_file_is_yaml() {
    for path in files(&root().join("deploy/k8s"), "yaml") {
        let name = path.display().to_string();
        assert!(!yaml(&name, &std::fs::read_to_string(&path).unwrap()).is_empty(), "{name}");
    }
}

/// Otherwise the manifests of a release would deploy the images of the previous one.
#[test]
fn images_have_the_version_of_the_workspace() {
    for path in files(&root().join("deploy/k8s"), "yaml") {
        let name = path.display().to_string();
        for document in yaml(&name, &std::fs::read_to_string(&path).unwrap()) {
            for image in list(&document["images"]) {
                let tag = text(&image["newTag"]);
                assert!(tag == "dev" || tag == env!("CARGO_PKG_VERSION"), "{name}: {tag}");
            }
        }
    }
}

/// Checks the base of every pod, which does not need kubectl.
#[test]
fn the_base_is_sound_before_it_is_rendered() {
    for file in ["base/deployment.yaml", "services/passwords/build/job.yaml"] {
        let path = format!("deploy/k8s/{file}");
        for document in yaml(&path, &super::read(&path)) {
            pods::check_hardening(&path, &document["spec"]["template"]["spec"]);
            if document["kind"] == "Deployment" {
                pods::check_probes(&path, &document);
            }
        }
    }
}

#[test]
fn generated_settings_are_settings_before_they_are_rendered() {
    for &service in SERVICES.iter() {
        for file in ["base", &format!("services/{service}")] {
            let path = format!("deploy/k8s/{file}/kustomization.yaml");
            let kustomization = yaml(&path, &super::read(&path)).remove(0);
            let environment: BTreeMap<String, Option<String>> =
                list(&kustomization["configMapGenerator"])
                    .iter()
                    .flat_map(|generator| list(&generator["literals"]))
                    .map(|literal| text(literal).split_once('=').unwrap())
                    .map(|(name, value)| (name.to_owned(), Some(value.to_owned())))
                    .collect();
            assert!(!environment.is_empty(), "{path}");
            settings::check(&path, service, &environment);
        }
    }
}

#[test]
fn services_that_call_public_addresses_may_reach_them() {
    for &service in SERVICES.iter() {
        let manifest = super::read(format!("services/{service}/Cargo.toml"));
        let path = format!("deploy/k8s/services/{service}/kustomization.yaml");
        let kustomization = yaml(&path, &super::read(&path)).remove(0);
        let may_call = list(&kustomization["components"]).contains(&Value::from("../../outgoing"));
        assert_eq!(may_call, manifest.contains("\noutbound.workspace = true"), "{path}");
    }
}

#[test]
fn each_service_is_complete_and_both_overlays_have_all_five() {
    for rendering in renderings() {
        let mut deployed: Vec<_> = rendering.of_kind("Deployment").map(service_of).collect();
        deployed.sort_unstable();
        match rendering.folder.as_str() {
            "dev" | "prod" => {
                let mut all = SERVICES.to_vec();
                all.sort_unstable();
                assert_eq!(deployed, all, "{}", rendering.folder);
                assert_eq!(rendering.of_kind("Namespace").count(), 1);
            }
            "services/passwords/build" => assert!(deployed.is_empty()),
            "examples/cluster" => assert_eq!(deployed, ["buckets"]),
            folder => assert_eq!(deployed, [folder.strip_prefix("services/").unwrap()]),
        }
    }
}

#[test]
fn databases_and_files_are_migrated_before_the_server_starts() {
    for rendering in renderings() {
        for deployment in rendering.of_kind("Deployment") {
            let service = service_of(deployment);
            let container = &deployment["spec"]["template"]["spec"]["containers"][0];
            let secret = list(&container["env"])
                .iter()
                .find(|variable| variable["name"] == "DATABASE_URL")
                .map(|variable| text(&variable["valueFrom"]["secretKeyRef"]["name"]).to_owned());
            let pod = &deployment["spec"]["template"]["spec"];
            let before: Vec<_> = list(&pod["initContainers"])
                .iter()
                .map(|first| (list(&first["args"]), &first["env"][0]))
                .collect();
            if !super::has_database(service) {
                assert_eq!((secret, before.len()), (None, 0), "{} {service}", rendering.folder);
                continue;
            }
            let wanted = (rendering.folder != "dev").then(|| format!("{service}-database"));
            assert_eq!(secret, wanted, "{}", rendering.folder);
            // In development, both containers use the file in the data folder.
            let migration = (&[Value::from("migrate")][..], &container["env"][0]);
            assert_eq!(before, [migration], "{} {service}", rendering.folder);
        }
    }
}

/// Returns an object's service, taken from its label.
fn service_of(object: &Value) -> &str {
    let name = text(&object["metadata"]["labels"]["app.kubernetes.io/name"]);
    assert!(SERVICES.contains(&name), "{} has no service label", object["metadata"]["name"]);
    name
}

#[test]
fn breaches_reaches_a_mail_server() {
    for rendering in renderings().iter().filter(|rendering| rendering.folder != "dev") {
        for deployment in
            rendering.of_kind("Deployment").filter(|one| service_of(one) == "breaches")
        {
            let container = &deployment["spec"]["template"]["spec"]["containers"][0];
            let url = list(&container["env"]).iter().find(|one| one["name"] == "SMTP_URL").unwrap();
            let secret = &url["valueFrom"]["secretKeyRef"];
            assert_eq!(secret["name"], "breaches-mail");
            assert_eq!(secret["optional"], true);
            let policy = rendering.find("NetworkPolicy", "breaches-outgoing").unwrap();
            let ports = list(&policy["spec"]["egress"][0]["ports"]);
            for port in [465, 587] {
                assert!(
                    ports.iter().any(|one| one["port"] == port),
                    "{}: {port}",
                    rendering.folder
                );
            }
        }
    }
}

#[test]
fn the_cluster_engine_needs_no_volume_and_is_scraped() {
    let Some(rendering) = renderings().iter().find(|one| one.folder == "examples/cluster") else {
        return;
    };
    assert_eq!(rendering.of_kind("PersistentVolumeClaim").count(), 0);
    let deployment = rendering.of_kind("Deployment").next().unwrap();
    let volumes = list(&deployment["spec"]["template"]["spec"]["volumes"]);
    assert!(volumes.iter().all(|volume| volume["persistentVolumeClaim"].is_null()));
    let monitor = &rendering.of_kind("ServiceMonitor").next().unwrap()["spec"];
    let endpoint = &monitor["endpoints"][0];
    let service = rendering.of_kind("Service").next().unwrap();
    // The rules in deploy/monitoring expect jobs to have the names of the services.
    assert_eq!(service["metadata"]["labels"][text(&monitor["jobLabel"])], "buckets");
    assert!(list(&service["spec"]["ports"]).iter().any(|port| port["name"] == endpoint["port"]));
}
