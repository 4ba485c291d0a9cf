//! Compares the OpenAPI document in the repository with the code.

use std::path::Path;

use shell::Service;

/// Compares the OpenAPI document generated from the code with the file in the repository.
///
/// ```no_run
/// # fn test<S: shell::Service>() {
/// // In a test of a service: concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json").
/// testkit::assert_openapi_matches::<S>("services/passwords/openapi.json");
/// # }
/// ```
///
/// # Panics
/// Panics if they differ. In this case, regenerate the file with `NAME openapi` and review the
/// change.
pub fn assert_openapi_matches<S: Service>(path: impl AsRef<Path>) {
    let path = path.as_ref();
    let file = std::fs::read_to_string(path).unwrap_or_default();
    let code = shell::openapi::<S>();
    let differs = file.lines().zip(code.lines()).position(|(file, code)| file != code);
    let name = S::INFO.name;
    match differs {
        None if file.len() == code.len() => {}
        line => panic!(
            "{} is not what the code says (line {}): cargo run -p {name} -- openapi > {}",
            path.display(),
            line.unwrap_or_else(|| file.lines().count().min(code.lines().count())) + 1,
            path.display()
        ),
    }
}
