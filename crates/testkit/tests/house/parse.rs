//! Parses a Rust file into its [`Contents`].

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Meta, UseTree, Visibility};

/// A path that occurs in a file, with `crate`, `super` and `self` unresolved.
#[derive(Clone, Debug)]
pub struct Mention {
    pub segments: Vec<String>,
    /// The enclosing inline modules.
    pub scope: Vec<String>,
    pub line: usize,
    /// The name that a `use` binds, or `*` for a glob. `None` outside of `use`.
    pub binds: Option<String>,
    /// Whether it is a `pub use`, including restricted ones such as `pub(crate)`.
    pub public: bool,
    /// Whether it is under `#[cfg(test)]`.
    pub test: bool,
}

/// An item that a file defines.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: &'static str,
    pub name: String,
    pub scope: Vec<String>,
    pub line: usize,
    /// Whether it is `pub` without a restriction.
    pub public: bool,
    pub test: bool,
}

/// A function with the attribute `utoipa::path`.
#[derive(Clone, Debug)]
pub struct Handler {
    pub name: String,
    pub operation_id: Option<String>,
    pub line: usize,
}

/// An `impl Trait for Type`. Each path is reduced to its last segment.
#[derive(Clone, Debug)]
pub struct Impl {
    pub of: String,
    pub on: String,
    pub line: usize,
}

/// A string literal in the code.
#[derive(Clone, Debug)]
pub struct Literal {
    pub text: String,
    pub line: usize,
    pub test: bool,
}

/// The relevant contents of a file.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    pub mentions: Vec<Mention>,
    pub items: Vec<Item>,
    pub handlers: Vec<Handler>,
    pub impls: Vec<Impl>,
    pub literals: Vec<Literal>,
}

/// Parses a file.
pub fn contents(path: &str, text: &str) -> Contents {
    let file = syn::parse_file(text).unwrap_or_else(|error| {
        panic!("{path}:{}: {error}", error.span().start().line);
    });
    let mut reader = Reader::default();
    reader.visit_file(&file);
    reader.contents
}

#[derive(Default)]
struct Reader {
    contents: Contents,
    scope: Vec<String>,
    test: bool,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        Meta::NameValue(_) => false,
    })
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

impl Reader {
    fn mention(&mut self, segments: Vec<String>, line: usize, binds: Option<String>, public: bool) {
        let (scope, test) = (self.scope.clone(), self.test);
        self.contents.mentions.push(Mention { segments, scope, line, binds, public, test });
    }

    fn item(&mut self, kind: &'static str, name: &syn::Ident, visibility: &Visibility) {
        self.contents.items.push(Item {
            kind,
            name: name.to_string(),
            scope: self.scope.clone(),
            line: name.span().start().line,
            public: is_public(visibility),
            test: self.test,
        });
    }

    fn literal(&mut self, text: String, line: usize) {
        self.contents.literals.push(Literal { text, line, test: self.test });
    }

    fn use_tree(&mut self, tree: &UseTree, before: &[String], public: bool) {
        let joined = |name: String| before.iter().cloned().chain([name]).collect::<Vec<_>>();
        let line = tree.span().start().line;
        match tree {
            UseTree::Path(path) => {
                self.use_tree(&path.tree, &joined(path.ident.to_string()), public);
            }
            UseTree::Name(name) if name.ident == "self" => {
                self.mention(before.to_vec(), line, before.last().cloned(), public);
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.mention(joined(name.clone()), line, Some(name), public);
            }
            UseTree::Rename(rename) => {
                let name = rename.ident.to_string();
                let path = if name == "self" { before.to_vec() } else { joined(name) };
                self.mention(path, line, Some(rename.rename.to_string()), public);
            }
            UseTree::Glob(_) => self.mention(before.to_vec(), line, Some("*".into()), public),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.use_tree(tree, before, public);
                }
            }
        }
    }

    /// Collects paths and strings in the arguments of a macro or an attribute.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_path(&mut path, line);
                    }
                    if path.is_empty() {
                        line = ident.span().start().line;
                    }
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && colons < 2 => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.end_path(&mut path, line);
                    self.tokens(group.stream());
                }
                TokenTree::Literal(literal) => {
                    let at = literal.span().start().line;
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        self.literal(text.value(), at);
                    }
                }
                TokenTree::Punct(_) => {}
            }
            self.end_path(&mut path, line);
            colons = 0;
        }
        self.end_path(&mut path, line);
    }

    fn end_path(&mut self, path: &mut Vec<String>, line: usize) {
        if !path.is_empty() {
            self.mention(std::mem::take(path), line, None, false);
        }
    }

    fn within(&mut self, attributes: &[Attribute], inside: impl FnOnce(&mut Self)) {
        let before = self.test;
        self.test |= is_test(attributes);
        inside(self);
        self.test = before;
    }
}

/// Returns the text after `operation_id =` in the tokens of `utoipa::path`.
fn operation_id(tokens: &TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.windows(3).find_map(|three| match three {
        [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(value)]
            if name == "operation_id" =>
        {
            syn::parse_str::<syn::LitStr>(&value.to_string()).ok().map(|text| text.value())
        }
        _ => None,
    })
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        use syn::Item;
        let attributes: &[Attribute] = match item {
            Item::Const(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            Item::Type(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        self.within(attributes, |reader| {
            match item {
                Item::Const(item) => reader.item("const", &item.ident, &item.vis),
                Item::Enum(item) => reader.item("enum", &item.ident, &item.vis),
                Item::Fn(item) => reader.item("fn", &item.sig.ident, &item.vis),
                Item::Mod(item) => reader.item("mod", &item.ident, &item.vis),
                Item::Static(item) => reader.item("static", &item.ident, &item.vis),
                Item::Struct(item) => reader.item("struct", &item.ident, &item.vis),
                Item::Trait(item) => reader.item("trait", &item.ident, &item.vis),
                Item::Type(item) => reader.item("type", &item.ident, &item.vis),
                Item::Macro(item) => {
                    if let Some(name) = &item.ident {
                        reader.item("macro", name, &Visibility::Inherited);
                    }
                }
                _ => {}
            }
            visit::visit_item(reader, item);
        });
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if let Some((_, items)) = &module.content {
            self.scope.push(module.ident.to_string());
            for item in items {
                self.visit_item(item);
            }
            self.scope.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let public = !matches!(item.vis, Visibility::Inherited);
        self.use_tree(&item.tree, &[], public);
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        for attribute in &function.attrs {
            let Meta::List(list) = &attribute.meta else { continue };
            let names: Vec<String> =
                list.path.segments.iter().map(|s| s.ident.to_string()).collect();
            if names == ["utoipa", "path"] {
                self.contents.handlers.push(Handler {
                    name: function.sig.ident.to_string(),
                    operation_id: operation_id(&list.tokens),
                    line: function.sig.ident.span().start().line,
                });
            }
        }
        visit::visit_item_fn(self, function);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let (Some((of, _)), syn::Type::Path(on)) = (&item.trait_, &*item.self_ty) {
            let last = |path: &syn::Path| path.segments.last().map(|s| s.ident.to_string());
            self.contents.impls.push(Impl {
                of: last(of).unwrap_or_default(),
                on: last(&on.path).unwrap_or_default(),
                line: item.impl_token.span.start().line,
            });
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.mention(segments, path.span().start().line, None, false);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        self.visit_path(&invoked.path);
        self.tokens(invoked.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("doc") || attribute.path().is_ident("cfg") {
            return;
        }
        self.visit_path(attribute.path());
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.literal(text.value(), text.span().start().line);
    }
}
