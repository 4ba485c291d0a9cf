//! The OpenAPI document without its operations.

use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder};

/// Returns the OpenAPI document without its paths.
pub fn document() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Password range service")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Looks up how often a password hash appears in a corpus of exposed passwords. The client \
             sends only the first 5 characters of the SHA-1 or NTLM hash and searches the \
             response for the remaining characters. The API needs no key and has no rate limit.",
        ))
        .build();
    OpenApiBuilder::new().info(info).build()
}
