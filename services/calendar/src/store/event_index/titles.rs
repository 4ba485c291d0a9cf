//! The case-folded titles of all events, in a single buffer.

/// The buffer is compacted when replaced titles take up more than half of it plus this number of
/// bytes.
const MAX_UNUSED: usize = 1 << 20;

/// The case-folded titles of all events, by position.
#[derive(Default)]
pub struct Titles {
    /// The buffer. Each title ends with a line feed.
    text: String,
    /// Offset of each title in the buffer.
    starts: Vec<usize>,
    /// Number of bytes taken up by replaced titles.
    unused: usize,
}

impl Titles {
    pub fn get(&self, place: usize) -> &str {
        let rest = &self.text[self.starts[place]..];
        rest.split('\n').next().unwrap_or_default()
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.starts.capacity() * size_of::<usize>()
    }

    /// Returns the first eight bytes of a title as an integer that sorts in the same order.
    pub fn head(&self, place: usize) -> u64 {
        let mut head = [0; 8];
        for (to, from) in head.iter_mut().zip(self.get(place).bytes()) {
            *to = from;
        }
        u64::from_be_bytes(head)
    }

    /// Sets the title at an existing position or at the next new one.
    pub fn put(&mut self, place: usize, title: &str) {
        if place < self.starts.len() {
            let old = self.get(place);
            if old == title {
                return;
            }
            self.unused += old.len() + 1;
            self.starts[place] = self.text.len();
        } else {
            self.starts.push(self.text.len());
        }
        self.text.push_str(title);
        self.text.push('\n');
        if self.unused > MAX_UNUSED + self.text.len() / 2 {
            self.drop_unused();
        }
    }

    fn drop_unused(&mut self) {
        let mut text = String::with_capacity(self.text.len() - self.unused);
        let mut starts = Vec::with_capacity(self.starts.len());
        for place in 0..self.starts.len() {
            starts.push(text.len());
            text.push_str(self.get(place));
            text.push('\n');
        }
        (self.text, self.starts, self.unused) = (text, starts, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_titles_are_dropped() {
        let mut titles = Titles::default();
        titles.put(0, "kept");
        titles.put(1, "");
        let long = "x".repeat(100_000);
        for round in 0..200 {
            titles.put(1, &format!("{round}{long}"));
        }
        assert!(titles.text.len() < 4 << 20, "{}", titles.text.len());
        assert_eq!((titles.get(0), &titles.get(1)[..4]), ("kept", "199x"));
        assert!(titles.head(0) > titles.head(1));
    }
}
