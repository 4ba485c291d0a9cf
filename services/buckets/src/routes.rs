//! Registers all operations, in the order of the documentation.

use shell::Routes;

use crate::handlers::{account, alerts, buckets, crawls, facets, files, page, stats};

/// Registers all operations.
pub fn register(routes: &mut Routes<'_>) {
    // The pages aren't part of the OpenAPI document.
    routes.page("/", actix_web::web::get().to(page::search_page));
    routes.get_page("/crawls", page::crawls_page);
    routes.assets(&page::SITE);
    routes.add(files::search_files);
    routes.add(facets::get_facets);
    routes.add(buckets::list_buckets);
    routes.add(stats::get_stats);
    routes.add(crawls::list_crawls);
    routes.add(crawls::add_crawl);
    routes.add(crawls::get_crawl);
    routes.add(crawls::remove_crawl);
    routes.add(crawls::pause_crawl);
    routes.add(crawls::resume_crawl);
    routes.add(crawls::run_crawl);
    routes.add(alerts::list_alerts);
    routes.add(alerts::add_alert);
    routes.add(alerts::get_alert);
    routes.add(alerts::put_alert);
    routes.add(alerts::remove_alert);
    routes.add(alerts::get_alert_files);
    routes.add(account::get_account);
}
