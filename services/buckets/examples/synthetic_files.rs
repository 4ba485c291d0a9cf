//! Writes synthetic file records as NDJSON. They have realistic words, extensions, dates and sizes,
//! and are in 20,000 buckets of very different sizes. The same number always gives the same
//! records.
//!
//! Usage: synthetic_files COUNT > FILE

use std::io::{BufWriter, Write};

const WORDS: [&str; 64] = [
    "image", "photo", "report", "invoice", "data", "backup", "user", "index", "main", "static",
    "assets", "thumb", "small", "large", "video", "audio", "log", "export", "import", "archive",
    "final", "draft", "copy", "new", "old", "test", "demo", "project", "client", "public",
    "private", "media", "upload", "download", "product", "catalog", "banner", "logo", "icon",
    "avatar", "profile", "document", "scan", "contract", "letter", "list", "table", "summary",
    "monthly", "yearly", "daily", "budget", "plan", "map", "chart", "sensor", "weather", "station",
    "release", "build", "bundle", "vendor", "module", "theme",
];
const EXTENSIONS: [&str; 24] = [
    "jpg", "jpg", "jpg", "jpg", "png", "png", "png", "json", "html", "js", "min.js", "css", "pdf",
    "txt", "csv", "xml", "mp4", "mp3", "zip", "tar.gz", "sql", "docx", "xlsx", "log",
];

/// SplitMix64, a small generator of well-distributed numbers.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns a number below `bound`. Small numbers are frequent, large ones are rare.
    fn skewed(&mut self, bound: u64) -> u64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((unit * unit * unit) * bound as f64) as u64
    }

    fn word(&mut self) -> String {
        match self.below(100) {
            0..60 => WORDS[self.skewed(64) as usize].to_owned(),
            // A long tail of rare words.
            _ => format!("{}{}", WORDS[self.below(64) as usize], self.skewed(200_000)),
        }
    }
}

fn path(random: &mut Stream, folder: &str) -> String {
    let mut name = random.word();
    for _ in 0..random.below(3) {
        name.push(['-', '_', ' ', '-'][random.below(4) as usize]);
        name.push_str(&random.word());
    }
    match random.below(4) {
        0 => name.push_str(&format!("_{}", 1_000 + random.below(9_000))),
        1 => {
            let (year, month, day) =
                (2005 + random.below(21), 1 + random.below(12), 1 + random.below(28));
            name.push_str(&format!("-{year}-{month:02}-{day:02}"));
        }
        _ => {}
    }
    format!("{folder}{name}.{}", EXTENSIONS[random.below(24) as usize])
}

fn main() -> std::io::Result<()> {
    let count: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let mut random = Stream(42);
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let hosts = [
        "s3.amazonaws.com",
        "s3.amazonaws.com",
        "s3.amazonaws.com",
        "storage.googleapis.com",
        "fra1.digitaloceanspaces.com",
        "oss-cn-hangzhou.aliyuncs.com",
    ];
    let mut written = 0;
    let mut bucket = 0u64;
    while written < count {
        let number = bucket % 20_000;
        bucket += 1;
        let host = hosts[(number % 6) as usize];
        let share = 1 + random.skewed(count / 2_500 + 1);
        let mut folder = String::new();
        for file in 0..share.min(count - written) {
            if file % 40 == 0 {
                folder.clear();
                for _ in 0..random.below(4) {
                    folder.push_str(&random.word());
                    folder.push('/');
                }
            }
            let path = path(&mut random, &folder);
            let (size, modified) =
                (random.skewed(50_000_000), 1_100_000_000 + random.below(650_000_000));
            writeln!(
                out,
                "{{\"bucket\":\"bucket-{number}.{host}\",\"fullPath\":\"{path}\",\"size\":{size},\"lastModified\":{modified}}}"
            )?;
            written += 1;
        }
    }
    out.flush()
}
