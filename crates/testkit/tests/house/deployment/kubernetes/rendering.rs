//! The Kubernetes folders as rendered by `kubectl kustomize`.

use std::io::{ErrorKind, Write};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use super::super::{SERVICES, root, yaml};

/// The rendered objects of one folder.
pub struct Rendering {
    /// The path relative to `deploy/k8s`.
    pub folder: String,
    objects: Vec<Value>,
}

impl Rendering {
    /// Returns the objects of this kind.
    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    /// Returns the object with this kind and name.
    pub fn find(&self, kind: &str, name: &str) -> Option<&Value> {
        self.of_kind(kind).find(|object| object["metadata"]["name"] == name)
    }

    /// Returns the objects that create pods: Deployments and Jobs.
    pub fn workloads(&self) -> impl Iterator<Item = &Value> {
        self.of_kind("Deployment").chain(self.of_kind("Job"))
    }

    /// Returns all objects.
    pub fn objects(&self) -> &[Value] {
        &self.objects
    }
}

/// Renders all folders that an operator may apply. If kubectl is missing, returns none and prints a
/// message.
pub fn renderings() -> &'static [Rendering] {
    static ALL: LazyLock<Vec<Rendering>> = LazyLock::new(|| {
        let services = SERVICES.iter().map(|service| format!("services/{service}"));
        let others =
            ["services/passwords/build", "examples/cluster", "dev", "prod"].map(str::to_owned);
        services.chain(others).map_while(render).collect()
    });
    &ALL
}

/// Renders a folder, or returns `None` if kubectl is missing.
pub fn render(folder: String) -> Option<Rendering> {
    let path = root().join("deploy/k8s").join(&folder);
    let output = match Command::new("kubectl").arg("kustomize").arg(&path).output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // The test harness hides the output of `eprintln!` if a test passes.
            let line =
                "\nWARNING: kubectl was not found: Kubernetes overlays were NOT rendered\n\n";
            std::io::stderr().write_all(line.as_bytes()).unwrap();
            return None;
        }
        Err(error) => panic!("kubectl: {error}"),
    };
    assert!(output.status.success(), "{folder}: {}", String::from_utf8_lossy(&output.stderr));
    let objects = yaml(&folder, &String::from_utf8(output.stdout).unwrap());
    assert!(!objects.is_empty(), "{folder} renders to nothing");
    Some(Rendering { folder, objects })
}
