//! Parses a schema.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::children::Children;
use super::expression::Expression;
use super::fault::{Faults, SchemaFault};
use super::field::{CHAIN, COST_OF_A_FIELD, COST_OF_A_ROW, Field, FieldKey, Make, SharedField};
use super::groups::Groups;
use super::kinds::derived::{Computed, Piece, Template, pieces};
use super::kinds::goods::{Product, Reviews};
use super::kinds::{choice, goods, made, network, numbers, pattern, times};
use super::members::Members;
use super::permutation::Permutation;
use super::schema::{Schema, Table};
use super::sql_text::find_nul;
use super::tables::{Bounds, RawField, RawTable, culture, read_tables};
use crate::model::numbers::Kind;

/// All field types.
const TYPES: &str = "person, address, company, phone, iban, card, crypto, imei, socialNumber, vat, \
    text, password, integer, decimal, normal, lognormal, boolean, date, time, timestamp, uuid, \
    sequence, choice, constant, pattern, template, expression, object, array, oneOf, reference, ip, mac, \
    url, userAgent, fileName, colour, brand, review, latitude, longitude";
/// Types that can have unique values, for error messages.
pub(super) const UNIQUE: &str = "integer, decimal, boolean, date, time, timestamp, choice, pattern of fixed \
    length, phone, uuid, sequence, template with a single field that is unique, reference to a unique field of \
    another table, and email, username and workEmail of person";

/// Parses a schema, which is either `{"tables": [{"name", "rows", "fields": [...]}]}` or, for a
/// single table, `{"fields": [...]}`.
///
/// # Errors
/// Returns all errors in the schema.
pub fn parse(schema: &Value, bounds: &Bounds) -> Result<Schema, Vec<SchemaFault>> {
    let mut faults = Faults::default();
    if bounds.is_sql {
        find_nul(schema, "", &mut 0, &mut faults);
    }
    let tables = read_tables(schema, bounds, &mut faults).unwrap_or_default();
    let mut builder = Builder {
        bounds,
        tables: &tables,
        faults,
        built: HashMap::new(),
        groups: Groups::default(),
        references: Vec::new(),
        followers: Vec::new(),
        cost: 0,
        level: 0,
        chain: 0,
        classes: 0,
    };
    let mut made = Vec::new();
    for (place, table) in tables.iter().enumerate() {
        let before = builder.faults.count();
        let fields: Vec<_> =
            (0..table.fields.len()).map(|field| builder.field(place, field)).collect();
        let shown = fields.into_iter().flatten().filter(|field| !field.hidden).collect::<Vec<_>>();
        if shown.is_empty() && builder.faults.count() == before {
            builder.faults.add(&table.pointer, "must have a field that is not hidden");
        }
        let made_table = Table {
            name: table.name.clone(),
            rows: table.rows,
            is_open: table.is_open,
            line: line(&tables, table),
            shown,
        };
        if made_table.cost() > COST_OF_A_ROW {
            let text = format!("has rows of more than {COST_OF_A_ROW} values");
            builder.faults.add(&table.pointer, text);
        }
        made.push(Rc::new(made_table));
    }
    builder.combine();
    let references = builder.references;
    match builder.faults.into_vec() {
        faults if faults.is_empty() => Ok(Schema { tables: made, references }),
        faults => Err(faults),
    }
}

/// Returns the chain of parent-child relations that leads to a table, from its earliest ancestor to
/// its direct parent.
fn line(tables: &[RawTable<'_>], table: &RawTable<'_>) -> Vec<Rc<Children>> {
    let own = |table: &RawTable<'_>| table.children.clone();
    let parent = |children: &Rc<Children>| own(&tables[children.table]);
    let mut line: Vec<_> = std::iter::successors(own(table), parent).collect();
    line.reverse();
    line
}

/// Returns the names of all field types.
pub fn types() -> impl Iterator<Item = &'static str> {
    TYPES.split(", ")
}

/// The parsing state of a field.
enum Built {
    /// The field is being parsed. If it is needed again in the meantime, there is a cycle.
    Begun,
    /// The field has been parsed. `None` if it has an error.
    Done(Option<SharedField>),
}

/// A schema while it's being parsed.
pub(super) struct Builder<'a> {
    pub(super) bounds: &'a Bounds,
    pub(super) tables: &'a [RawTable<'a>],
    pub(super) faults: Faults,
    built: HashMap<(usize, usize), Built>,
    /// The people and cards of all tables.
    pub(super) groups: Groups<'a>,
    /// Pairs of table indexes, in which the first table refers to the second.
    pub(super) references: Vec<(usize, usize)>,
    /// References with a `with` member, each with the table index, its name, and the name of the
    /// reference that picks the row for it.
    pub(super) followers: Vec<(usize, &'a str, &'a str)>,
    /// Cost so far of the field that is being parsed.
    pub(super) cost: u64,
    /// Number of nested fields that are being parsed.
    level: usize,
    /// Length so far of the longest chain of fields that the field being parsed depends on.
    chain: usize,
    /// Cost of the character classes in all patterns so far.
    classes: u64,
}

/// The location of the field that is being parsed, as a table and a path of names within it.
pub(super) struct Place<'p> {
    pub(super) table: usize,
    pub(super) path: &'p str,
    pub(super) depth: usize,
    /// Number of indexes that enclosing arrays reserve per row. `None` outside of arrays.
    pub(super) items: Option<u64>,
}

impl<'a> Builder<'a> {
    /// Returns a field of a table by index, parsing it if necessary.
    fn field(&mut self, table: usize, place: usize) -> Option<SharedField> {
        match self.built.get(&(table, place)) {
            Some(Built::Done(field)) => return field.clone(),
            Some(Built::Begun) => {
                let raw = &self.tables[table].fields[place];
                self.faults.add(&raw.pointer, "is derived from itself, through other fields");
                return None;
            }
            None => {}
        }
        self.built.insert((table, place), Built::Begun);
        let raw = &self.tables[table].fields[place];
        let at = Place { table, path: raw.name, depth: 0, items: None };
        let field = self.read(raw, &at).map(Rc::new);
        self.built.insert((table, place), Built::Done(field.clone()));
        field
    }

    /// Returns a field, provided that it has already been parsed without errors.
    pub(super) fn known(&self, table: usize, name: &str) -> Option<SharedField> {
        let place = self.tables[table].place(name)?;
        match self.built.get(&(table, place))? {
            Built::Done(field) => field.clone(),
            Built::Begun => None,
        }
    }

    /// Returns a field of a table by name.
    pub(super) fn named(&mut self, table: usize, name: &str, pointer: &str) -> Option<SharedField> {
        let Some(place) = self.tables[table].place(name) else {
            let known: Vec<_> = self.tables[table].fields.iter().map(|field| field.name).collect();
            let text =
                format!("the table does not have a field {name}; it has {}", known.join(", "));
            self.faults.add(pointer, text);
            return None;
        };
        let cost = self.cost;
        let field = self.field(table, place);
        self.cost = cost.saturating_add(field.as_ref().map_or(0, |field| field.cost));
        self.chain = self.chain.max(field.as_ref().map_or(0, |field| field.chain));
        field
    }

    /// Reads a field, unless the chain of fields that depend on it is already too long.
    pub(super) fn read(&mut self, raw: &RawField<'a>, at: &Place<'_>) -> Option<Field> {
        let (cost, chain) = (self.cost, std::mem::take(&mut self.chain));
        self.level += 1;
        let mut read = if self.level > CHAIN { None } else { self.read_members(raw, at) };
        let is_long = self.level > CHAIN || self.chain >= CHAIN;
        self.level -= 1;
        if is_long {
            let text = format!("makes a chain of more than {CHAIN} fields that use each other");
            self.faults.add(&raw.pointer, text);
            read = None;
        }
        let more = read.as_ref().map_or(0, |field| field.cost);
        self.cost = cost.saturating_add(more);
        if let Some(field) = &mut read {
            field.chain = self.chain + 1;
        }
        self.chain = chain.max(read.as_ref().map_or(0, |field| field.chain));
        read
    }

    fn read_members(&mut self, raw: &RawField<'a>, at: &Place<'_>) -> Option<Field> {
        let mut members = Members::of(raw.value, raw.pointer.clone(), &mut self.faults)?;
        members.value("name");
        let kind = members.required("type", &mut self.faults)?;
        let hidden = members.flag("hidden", &mut self.faults);
        let mut nulls = numbers::part(members.share("nulls", 0.0, &mut self.faults));
        let unique = members.flag("unique", &mut self.faults);
        let mut key = FieldKey::new(&self.bounds.seed, &self.tables[at.table].name, at.path);
        let own_cost = 1 + raw.value.to_string().len() as u64 / 64;
        self.cost = own_cost;
        let first = match kind.as_str() {
            Some("reference") => self.followed(&mut members, at),
            _ => Some(None),
        };
        if let Some(Some(first)) = &first {
            (key, nulls) = (first.key, first.nulls);
        }
        let kind = kind.as_str().unwrap_or_default();
        let make = self.make(kind, &mut members, at, key);
        let unique_at = members.at("unique");
        // Each type reads all of its members, even if some have errors.
        if types().any(|known| known == kind) {
            members.end(kind, &mut self.faults);
        }
        let more_cost = make.as_ref().map_or(0, |make| make.more_cost());
        let cost = self.cost.saturating_add(more_cost);
        if cost > COST_OF_A_FIELD {
            let text = format!("generates more than {COST_OF_A_FIELD} values per row");
            self.faults.add(&raw.pointer, text);
            return None;
        }
        let (make, first) = (make?, first?);
        let order = match &first {
            Some(first) => first.order,
            None if unique => self.order(&*make, key, at, unique_at)?,
            None => None,
        };
        let digit = OnceCell::new();
        Some(Field {
            name: raw.name.to_owned(),
            hidden,
            nulls,
            order,
            digit,
            key,
            make,
            cost,
            chain: 1,
        })
    }

    /// Returns the order of unique values, if the field needs one. Returns `None` if there was an
    /// error.
    fn order(
        &mut self,
        make: &dyn Make,
        key: FieldKey,
        at: &Place<'_>,
        pointer: String,
    ) -> Option<Option<Permutation>> {
        if make.is_unique() {
            return Some(None);
        }
        let Some(space) = make.space().filter(|_| at.depth == 0 && make.is_distinct()) else {
            self.faults.add(pointer, format!("cannot be guaranteed; it can for {UNIQUE}"));
            return None;
        };
        let rows = self.tables[at.table].rows;
        if space < rows {
            let text = format!("is impossible: there are {space} values for {rows} rows");
            self.faults.add(pointer, text);
            return None;
        }
        Some(Some(key.permutation(space.min(1 << 62))))
    }

    fn make(
        &mut self,
        kind: &str,
        members: &mut Members<'a>,
        at: &Place<'_>,
        key: FieldKey,
    ) -> Option<Box<dyn Make>> {
        let (day, faults) = (self.bounds.day, &mut self.faults);
        match kind {
            "person" => self.person(members, at, "fullName"),
            "address" => self.person(members, at, "address"),
            "company" => {
                let culture = culture(members, self.tables[at.table].locale, faults);
                made::companies(members, culture, faults)
            }
            "phone" => made::phones(members, faults),
            "iban" => made::ibans(members, faults),
            "card" => self.card(members, at),
            "crypto" => made::coins(members, faults),
            "imei" => Some(made::imeis()),
            "socialNumber" => made::national(members, Kind::Person, day, faults),
            "vat" => made::national(members, Kind::Vat, day, faults),
            "text" => made::texts(members, faults),
            "password" => Some(made::passwords(members, faults)),
            "integer" => numbers::integer(members, faults),
            "decimal" => numbers::decimal(members, faults),
            "normal" => numbers::normal(members, false, faults),
            "lognormal" => numbers::normal(members, true, faults),
            "boolean" => Some(numbers::boolean(members, faults)),
            "date" => times::dates(members, day, faults),
            "time" => times::times(members, faults),
            "timestamp" => times::timestamps(members, day, faults),
            "uuid" => network::uuids(members, day, faults),
            "sequence" => numbers::sequence(members, faults),
            "choice" => choice::choice(members, faults),
            "constant" => choice::constant(members, faults),
            "pattern" => pattern::patterns(members, &mut self.classes, faults),
            "ip" => network::ips(members, faults),
            "mac" => Some(network::macs()),
            "url" => Some(network::urls()),
            "userAgent" => Some(network::agents()),
            "fileName" => Some(network::files()),
            "colour" => Some(network::colours()),
            "brand" => goods::brands(members, faults),
            "review" => self.review(members, at),
            "latitude" | "longitude" => {
                let (seed, table) = (&self.bounds.seed, &self.tables[at.table].name);
                let key = |name: &str| FieldKey::new(seed, table, name);
                goods::coordinates(members, usize::from(kind == "longitude"), key, faults)
            }
            "template" => self.template(members, at),
            "expression" => self.expression(members, at),
            "object" => self.object(members, at),
            "array" => self.array(members, at, key),
            "oneOf" => self.one_of(members, at),
            "reference" => self.reference(members, at, key),
            _ => {
                faults.add(members.at("type"), format!("must be one of {TYPES}"));
                None
            }
        }
    }

    /// Reads the types `person` and `address`.
    fn person(
        &mut self,
        members: &mut Members<'a>,
        at: &Place<'_>,
        usual: &str,
    ) -> Option<Box<dyn Make>> {
        let table = (at.table, &self.tables[at.table]);
        let part = self.groups.person(members, table, self.bounds, usual, &mut self.faults);
        part.map(|part| Box::new(part) as _)
    }

    /// Reads the type `card`.
    fn card(&mut self, members: &mut Members<'a>, at: &Place<'_>) -> Option<Box<dyn Make>> {
        let table = (at.table, &self.tables[at.table]);
        let items = at.items.unwrap_or(1);
        let part = self.groups.card(members, table, self.bounds, items, &mut self.faults);
        part.map(|part| Box::new(part) as _)
    }

    /// Reads the type `template`: `template`.
    fn template(&mut self, members: &mut Members<'a>, at: &Place<'_>) -> Option<Box<dyn Make>> {
        members.required("template", &mut self.faults)?;
        let template = members.text("template", &mut self.faults)?;
        let pointer = members.at("template");
        let (mut read, pieces) = (Vec::new(), pieces(template));
        for piece in &pieces {
            let piece = match piece {
                Ok(text) => Some(Piece::Text((*text).to_owned())),
                Err(name) => self.named(at.table, name, &pointer).map(Piece::Field),
            };
            if piece.is_none() && self.faults.are_many() {
                return None;
            }
            read.extend(piece);
        }
        let items = at.items.unwrap_or(1);
        (read.len() == pieces.len()).then(|| Box::new(Template { pieces: read, items }) as _)
    }

    /// Reads the type `review`: `product` (a string) or `of` (a field).
    fn review(&mut self, members: &mut Members<'a>, at: &Place<'_>) -> Option<Box<dyn Make>> {
        let name = members.text("product", &mut self.faults);
        let is_long = name.is_some_and(|name| name.chars().count() > 200);
        if is_long {
            self.faults.add(members.at("product"), "must be at most 200 characters long");
        }
        let product = match members.text("of", &mut self.faults) {
            Some(field) => Product::Field(self.named(at.table, field, &members.at("of"))?),
            None => Product::Name(name.unwrap_or("product").to_owned()),
        };
        let items = at.items.unwrap_or(1);
        (!is_long).then(|| Box::new(Reviews { product, items }) as _)
    }

    /// Reads the type `expression`: `expression`.
    fn expression(&mut self, members: &mut Members<'a>, at: &Place<'_>) -> Option<Box<dyn Make>> {
        members.required("expression", &mut self.faults)?;
        let text = members.text("expression", &mut self.faults)?;
        let pointer = members.at("expression");
        let expression = match Expression::parse(text) {
            Ok(expression) => expression,
            Err(why) => {
                self.faults.add(pointer, why);
                return None;
            }
        };
        let mut fields = Vec::new();
        for name in &expression.names {
            let Some(field) = self.named(at.table, name, &pointer) else {
                if self.faults.are_many() {
                    return None;
                }
                continue;
            };
            // A field's value is generated again each time the expression uses it.
            let more = text.matches(name.as_str()).count().saturating_sub(1) as u64;
            self.cost = self.cost.saturating_add(field.cost.saturating_mul(more));
            fields.push(field);
        }
        let items = at.items.unwrap_or(1);
        let is_whole = fields.len() == expression.names.len();
        is_whole.then(|| Box::new(Computed { expression, fields, items }) as _)
    }
}
