//! Handles events that are password-protected on the remote site. The site's lists leave out the
//! details of such events.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::client::{Reply, SiteClient};
use super::items::{ItemKind, id_of};

/// Warning about an event whose details or password the site hides from us.
pub const HIDDEN: &str = "is protected by a password; the site shows its details and its password \
    only to users who may edit it, so it was not imported, and an earlier copy was left unchanged. \
    Import it with --user, as a user who may edit it";

/// The site's error code for a post that doesn't exist.
const NO_POST: &str = "rest_post_invalid_id";

/// Suffix for an item's digest if the item has a password on the remote site.
const MARK: &str = " protected";

/// Returns the item with its details and, if it is protected, its password. Returns `None` if our
/// account on the site isn't allowed to see them. If the site never returns passwords, the item
/// becomes private, because a copy without a password would show the details to everyone.
///
/// # Errors
/// Returns an error if the site does not respond.
pub fn unlocked<'i>(
    client: &SiteClient,
    (kind, id): (ItemKind, i64),
    item: &'i Value,
) -> anyhow::Result<Option<Cow<'i, Value>>> {
    if kind != ItemKind::Event || !is_blank(item) {
        return Ok(Some(Cow::Borrowed(item)));
    }
    if !client.has_user() {
        return Ok(None);
    }
    let path = format!("tribe/events/v1/events/{id}?context=edit");
    let Reply::Found(mut event) = client.get(&path)? else { return Ok(None) };
    if id_of(&event) != Some(id) || is_blank(&event) {
        return Ok(None);
    }
    // The plugin's own API never returns passwords.
    let path = format!("wp/v2/tribe_events/{id}?context=edit&_fields=password");
    match client.get(&path)? {
        Reply::Found(post) => match post["password"].as_str() {
            None | Some("") => return Ok(None),
            Some(password) => event["password"] = password.into(),
        },
        // The site doesn't have this API, e.g. because it runs this software.
        Reply::Refused(404, code) if code != NO_POST => {
            log::warn!(
                "the site does not return the password of event {id}, so the event is private \
                 here; set a password before you publish it"
            );
            if matches!(event["status"].as_str(), Some("publish" | "future")) {
                event["status"] = "private".into();
            }
        }
        Reply::Refused(..) => return Ok(None),
    }
    Ok(Some(Cow::Owned(event)))
}

/// Adds the suffix to an item's digest if the item has a password.
pub fn marked(digest: String, fields: &Map<String, Value>) -> String {
    if fields.contains_key("password") { digest + MARK } else { digest }
}

/// Removes the password if the item had one on the remote site at the last import but no longer
/// does. Passwords that were set here are kept.
pub fn open(fields: &mut Map<String, Value>, digest_before: &str) {
    if digest_before.ends_with(MARK) && !fields.contains_key("password") {
        fields.insert("password".to_owned(), "".into());
    }
}

/// Returns whether the site hides an event's details, in which case the event's flags are null.
fn is_blank(event: &Value) -> bool {
    ["all_day", "featured"].iter().all(|name| event.get(name).is_some_and(Value::is_null))
}
