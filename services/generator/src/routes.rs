//! Every path of the service, in the order of the documentation.

use utoipa_actix_web::service_config::ServiceConfig;

use crate::handlers::{card, finance, licenses, name, phone, social};

/// The paths in their declared spelling; requests may write them in any case.
const PATHS: &[&str] = &[
    "/api/Card",
    "/api/Card/Types",
    "/api/Finance/CryptoAddress/Types",
    "/api/Finance/CryptoAddress",
    "/api/Finance/Iban/{}",
    "/api/Finance/Countries",
    "/api/Finance/Vat/Validator",
    "/api/Name",
    "/api/Name/Cultures",
    "/api/Phone/Generate",
    "/api/Phone/IMEI",
    "/api/Phone/Validate",
    "/api/Phone/Countries",
    "/api/SocialNumber",
    "/licenses",
    "/openapi.json",
    "/docs",
];

/// Where the pages for people begin.
const DOCS: &str = "/docs/";

/// Registers every operation.
pub fn register(config: &mut ServiceConfig<'_>) {
    config
        .service(card::generate_card)
        .service(card::list_card_types)
        .service(finance::list_crypto_address_types)
        .service(finance::generate_crypto_address)
        .service(finance::generate_iban)
        .service(finance::list_iban_countries)
        .service(finance::validate_vat)
        .service(name::generate_names)
        .service(name::list_name_cultures)
        .service(phone::generate_phone_numbers)
        .service(phone::generate_imeis)
        .service(phone::validate_phone_number)
        .service(phone::list_phone_countries)
        .service(social::generate_social_number)
        .service(social::validate_social_number)
        .service(licenses::read_licenses);
}

/// The declared spelling of a path that differs from it in case or by a final slash.
pub fn canonical(path: &str) -> Option<String> {
    if PATHS.contains(&path) {
        return None;
    }
    if path.get(..DOCS.len()).is_some_and(|start| start.eq_ignore_ascii_case(DOCS)) {
        // All of its files are in lower case.
        return Some(path.to_ascii_lowercase()).filter(|declared| declared != path);
    }
    let asked = path.trim_end_matches('/');
    let declared = PATHS.iter().find_map(|known| spelled(known, asked))?;
    (declared != path).then_some(declared)
}

/// `asked` in the spelling of `known`; a `{}` takes what stands there.
fn spelled(known: &str, asked: &str) -> Option<String> {
    let mut spelled = String::with_capacity(asked.len());
    let (mut ours, mut theirs) = (known.split('/').skip(1), asked.split('/').skip(1));
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return Some(spelled),
            (Some("{}"), Some(value)) if !value.is_empty() => {
                spelled.push('/');
                spelled.push_str(value);
            }
            (Some(word), Some(value)) if word.eq_ignore_ascii_case(value) => {
                spelled.push('/');
                spelled.push_str(word);
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_final_slashes_do_not_count() {
        assert_eq!(canonical("/API/card/TYPES/").as_deref(), Some("/api/Card/Types"));
        assert_eq!(canonical("/api/Card"), None);
        assert_eq!(canonical("/api/Cards"), None);
        assert_eq!(canonical("/docs/"), None);
        assert_eq!(canonical("/DOCS/Index.html").as_deref(), Some("/docs/index.html"));
        assert_eq!(canonical("/Docs").as_deref(), Some("/docs"));
    }

    #[test]
    fn variable_parts_are_kept() {
        assert_eq!(spelled("/api/X/{}", "/API/x/De").as_deref(), Some("/api/X/De"));
        assert_eq!(spelled("/api/X/{}", "/api/X"), None);
    }
}
