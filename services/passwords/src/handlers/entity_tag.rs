//! Whether a client already has the answer it asks for.

use crate::model::BucketDigest;

/// The entity tag of a bucket: its digest in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag([u8; 20]);

impl EntityTag {
    /// The tag of a bucket with this digest.
    pub fn of(digest: BucketDigest) -> Self {
        let mut tag = *b"W/\"0000000000000000\"";
        for (byte, pair) in digest.iter().zip(tag[3..19].chunks_exact_mut(2)) {
            pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
            pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
        }
        Self(tag)
    }

    /// The tag of the plain answer.
    pub fn strong(&self) -> &[u8] {
        &self.0[2..]
    }

    /// The tag of the compressed answer.
    pub fn weak(&self) -> &[u8] {
        &self.0
    }

    /// Whether a value of `If-None-Match` names this tag, strong or weak, or is `*`.
    pub fn is_in(&self, value: &[u8]) -> bool {
        let mut rest = value.trim_ascii();
        if rest == b"*" {
            return true;
        }
        while let Some(begin) = rest.iter().position(|byte| *byte == b'"') {
            let after = &rest[begin + 1..];
            let Some(end) = after.iter().position(|byte| *byte == b'"') else { return false };
            if rest[begin..=begin + 1 + end] == *self.strong() {
                return true;
            }
            rest = &after[end + 1..];
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EMPTY_DIGEST;

    #[test]
    fn lists_weak_tags_and_the_star_match() {
        let tag = EntityTag::of(EMPTY_DIGEST);
        assert_eq!(tag.strong(), b"\"da39a3ee5e6b4b0d\"");
        assert_eq!(tag.weak(), b"W/\"da39a3ee5e6b4b0d\"");
        let table = [
            ("\"da39a3ee5e6b4b0d\"", true),
            ("W/\"da39a3ee5e6b4b0d\"", true),
            ("\"x\", W/\"da39a3ee5e6b4b0d\" , \"y\"", true),
            ("\"a,b\",\"da39a3ee5e6b4b0d\"", true),
            (" * ", true),
            ("", false),
            ("da39a3ee5e6b4b0d", false),
            ("\"da39a3ee5e6b4b0d", false),
            ("\"DA39A3EE5E6B4B0D\"", false),
            ("\"x\"", false),
        ];
        for (value, expected) in table {
            assert_eq!(tag.is_in(value.as_bytes()), expected, "{value}");
        }
    }
}
