//! Every operation, in the order of the documentation.

use utoipa_actix_web::service_config::ServiceConfig;

use crate::handlers::{account, buckets, files, page, stats};

/// Registers every operation.
pub fn register(config: &mut ServiceConfig<'_>) {
    // The page is for people: it is not part of the document.
    config.route("/", actix_web::web::get().to(page::search_page));
    page::SITE.register(config);
    config
        .service(files::search_files)
        .service(buckets::list_buckets)
        .service(stats::get_stats)
        .service(account::get_account);
}
