//! All operations, in documentation order.

use shell::Routes;

use crate::handlers::{
    address, business, card, finance, licenses, name, page, person, phone, records, review,
    schemas, social, text,
};

/// Adds all operations and pages.
pub fn register(routes: &mut Routes<'_>) {
    routes.add(card::generate_card);
    routes.add(card::list_card_types);
    routes.add(card::validate_card);
    routes.add(finance::list_crypto_address_types);
    routes.add(finance::generate_crypto_address);
    routes.add(finance::validate_crypto_address);
    // This must come before the route that ends with a parameter.
    routes.add(finance::validate_iban);
    routes.add(finance::generate_iban);
    routes.add(finance::list_iban_countries);
    routes.add(finance::validate_vat);
    routes.add(address::list_misc_cultures);
    routes.add(address::generate_addresses);
    routes.add(person::generate_persons);
    routes.add(records::generate_records);
    routes.add(schemas::list_schemas);
    routes.add(schemas::read_schema);
    routes.add(schemas::save_schema);
    routes.add(schemas::remove_schema);
    routes.add(name::generate_names);
    routes.add(business::suggest_business_names);
    routes.add(name::list_name_cultures);
    routes.add(business::generate_business_names);
    routes.add(business::generate_brand_names);
    routes.add(phone::generate_phone_numbers);
    routes.add(phone::generate_imeis);
    routes.add(phone::validate_phone_number);
    routes.add(phone::list_phone_countries);
    routes.add(social::generate_social_number);
    routes.add(social::validate_social_number);
    routes.add(text::generate_lorem_ipsum);
    routes.add(text::generate_password);
    routes.add(text::humanize_text);
    routes.add(text::transform_text);
    routes.add(review::generate_reviews);
    routes.add(licenses::read_licenses);
    // These must come after the operations, because the router tries routes in order.
    routes.get_page("/", page::playground);
    routes.get_page("/records", page::builder);
    routes.assets(&page::SITE);
}
