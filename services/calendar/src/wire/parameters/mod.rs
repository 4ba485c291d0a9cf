//! Parameters for all operations, as structs that both document and decode them.

mod declared;
mod lists;
mod reads;
mod schemas;
mod writes;

pub use declared::Declared;
pub use lists::{
    CategoryListParameters, EventListParameters, FeedParameters, LinkedListParameters,
    TagListParameters, UNDATED,
};
pub use reads::{
    EventDeleteParameters, EventReadParameters, IndexParameters, ItemParameters,
    LinkedDeleteParameters, SubscribedEventParameters, SubscriptionDeleteParameters, is_forced,
    reach_of,
};
pub use writes::{
    CategoryFields, EventFields, OrganizerFields, ReleaseFields, SubscriptionFields, TagFields,
    VenueFields,
};

/// Returns the declared name of a query or form parameter, or `None` if no operation declares it.
pub fn declared(name: &str) -> Option<&'static str> {
    let all = [
        EventListParameters::parameters(),
        LinkedListParameters::parameters(),
        CategoryListParameters::parameters(),
        EventReadParameters::parameters(),
        EventDeleteParameters::parameters(),
        LinkedDeleteParameters::parameters(),
        IndexParameters::parameters(),
        EventFields::parameters(),
        VenueFields::parameters(),
        OrganizerFields::parameters(),
        CategoryFields::parameters(),
        SubscriptionFields::parameters(),
        SubscribedEventParameters::parameters(),
        SubscriptionDeleteParameters::parameters(),
        ReleaseFields::parameters(),
    ];
    let names = all.into_iter().flatten().map(|parameter| parameter.name.as_str());
    // Lists can also be sent as `name[]`.
    let name = name.split('[').next().unwrap_or(name);
    names.into_iter().find(|declared| *declared == name)
}
