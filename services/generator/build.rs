//! Packs the cultures: front-codes each list and compresses each culture separately.
//!
//! `cultures.bin` starts with the offset and the length of each culture in the order of
//! `data/cultures.tsv`, both as 32-bit little-endian numbers; cultures with the same lists share
//! them. A compressed culture is text: the lists in [`LISTS`], each followed by an empty line, and
//! then the profile. A line in a list starts with a character for the number of bytes that it
//! shares with the previous line (`0` means none). The remaining bytes, a tab, and a character for
//! the weight follow. Cities have two more columns: the region, and postcodes or their masks. The
//! postcodes in `data/postcodes` replace the masks. Names in scripts without an alphabet have one
//! or two more columns: the Latin form and the reading from `data/latin`.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;

const LISTS: [&str; 6] =
    ["given_female", "given_male", "surname", "surname_female", "street", "city"];

/// Maximum size of the packed cultures in bytes, without the postcodes.
const LARGEST: usize = 700 << 10;
/// Maximum size of the packed postcodes in bytes.
const LARGEST_POSTCODES: usize = 600 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = std::env::var("CARGO_MANIFEST_DIR")?;
    let data = Path::new(&manifest).join("data");
    println!("cargo::rerun-if-changed=data/cultures");
    println!("cargo::rerun-if-changed=data/cultures.tsv");
    println!("cargo::rerun-if-changed=data/latin");
    println!("cargo::rerun-if-changed=data/postcodes");
    let table = fs::read_to_string(data.join("cultures.tsv"))?;
    let mut packed = Vec::new();
    let mut places = HashMap::new();
    let mut index = Vec::new();
    for code in table.lines().filter_map(|line| line.split('\t').next()) {
        let text = culture(&data, code)?;
        let place = match places.get(&text) {
            Some(place) => *place,
            None => {
                let bytes = deflated(text.as_bytes())?;
                let place = (packed.len(), bytes.len());
                packed.extend(bytes);
                places.insert(text, place);
                place
            }
        };
        index.push(place);
    }
    let head = index.len() * 8;
    let mut all = Vec::with_capacity(head + packed.len());
    for (offset, length) in index {
        all.extend(u32::try_from(head + offset)?.to_le_bytes());
        all.extend(u32::try_from(length)?.to_le_bytes());
    }
    all.extend(packed);
    let mut postcodes = 0;
    for entry in fs::read_dir(data.join("postcodes"))? {
        postcodes += deflated(&fs::read(entry?.path())?)?.len();
    }
    if postcodes > LARGEST_POSTCODES || all.len() > LARGEST + LARGEST_POSTCODES {
        return Err(format!("{} bytes, of which {postcodes} for postcodes", all.len()).into());
    }
    fs::write(Path::new(&std::env::var("OUT_DIR")?).join("cultures.bin"), all)?;
    Ok(())
}

fn culture(data: &Path, code: &str) -> Result<String, Box<dyn Error>> {
    let folder = data.join("cultures").join(code);
    let latin = data.join("latin").join(format!("{code}.tsv"));
    let latin = if latin.exists() { fs::read_to_string(latin)? } else { String::new() };
    let latin: HashMap<_, _> = latin.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut out = String::new();
    for list in LISTS {
        let path = folder.join(format!("{list}.tsv"));
        if path.exists() {
            let is_of_names = list.starts_with("given") || list.starts_with("surname");
            let mut rows = fs::read_to_string(path)?;
            if is_of_names && !latin.is_empty() {
                rows = with_latin(&rows, &latin)
                    .map_err(|name| format!("{code}: {name} has no Latin form"))?;
            }
            if list == "city" {
                rows = with_postcodes(&rows, data, code)?;
            }
            front_code(&rows, &mut out)?;
        }
        out.push('\n');
    }
    out.push_str(&fs::read_to_string(folder.join("profile.tsv"))?);
    Ok(out)
}

/// Appends the Latin form to each name. Returns the first name without a Latin form as an error.
fn with_latin(rows: &str, latin: &HashMap<&str, &str>) -> Result<String, String> {
    let mut out = String::new();
    for row in rows.lines() {
        let name = row.split('\t').next().unwrap_or_default();
        let form = latin.get(name).ok_or(name)?;
        out.push_str(&format!("{row}\t{form}\n"));
    }
    Ok(out)
}

/// Replaces the masks of a culture's towns with their postcodes, if known.
fn with_postcodes(rows: &str, data: &Path, code: &str) -> Result<String, Box<dyn Error>> {
    // `en` has the same towns as the United States.
    let code = if code == "en" { "en_US" } else { code };
    let path = data.join("postcodes").join(format!("{code}.tsv"));
    if !path.exists() {
        return Ok(rows.to_owned());
    }
    let text = fs::read_to_string(path)?;
    let known: HashMap<_, _> = text.lines().filter_map(|line| line.rsplit_once('\t')).collect();
    let mut out = String::new();
    for row in rows.lines() {
        let columns: Vec<_> = row.split('\t').collect();
        let [town, weight, region, _] = columns[..] else { return Err("a town's columns".into()) };
        let place = format!("{town}\t{region}");
        let codes =
            known.get(&*place).ok_or_else(|| format!("{code}: {place} has no postcodes"))?;
        out.push_str(&format!("{town}\t{weight}\t{region}\t{codes}\n"));
    }
    Ok(out)
}

fn front_code(list: &str, out: &mut String) -> Result<(), Box<dyn Error>> {
    let mut before = "";
    for line in list.lines() {
        let (name, rest) = line.split_once('\t').ok_or("a line without a weight")?;
        let (weight, columns) = rest.split_once('\t').unwrap_or((rest, ""));
        let mut shared =
            name.bytes().zip(before.bytes()).take(70).take_while(|(a, b)| a == b).count();
        while !name.is_char_boundary(shared) {
            shared -= 1;
        }
        out.push(char::from(b'0' + u8::try_from(shared)?));
        out.push_str(&name[shared..]);
        out.push('\t');
        out.push(char::from(b'0' + weight.parse::<u8>()?));
        if !columns.is_empty() {
            out.push('\t');
            out.push_str(columns);
        }
        out.push('\n');
        before = name;
    }
    Ok(())
}

fn deflated(text: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text)?;
    Ok(encoder.finish()?)
}
