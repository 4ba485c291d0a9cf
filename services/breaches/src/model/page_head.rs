//! Finds meta tags in the head of an HTML page the way a browser would.

use std::cell::{Cell, RefCell};

use html5ever::Attribute;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// Number of bytes to feed to the tokenizer at once.
const PIECE: usize = 1_024;

/// Maximum number of bytes that could start an attribute, counted across pieces until a token is
/// completed. The tokenizer compares every attribute of a tag with all previous ones, so the time
/// for a huge tag is quadratic. No legitimate tag comes close to this limit.
const MAX_SEPARATORS: usize = 16_384;

/// Returns the `content` of every `meta` tag with this name (ignoring case) in the head of a page.
///
/// Only start tags that HTML5 puts in the head count. Ignores tags inside comments, scripts,
/// styles, `noscript`, `template`, titles and attribute values. Also ignores everything after the
/// first text or element of the body, since visitors may have written it.
pub fn meta_contents(html: &str, name: &str) -> Vec<String> {
    let head = Head { name: name.to_owned(), ..Head::default() };
    let tokenizer = Tokenizer::new(head, TokenizerOpts::default());
    let (mut rest, mut separators) = (html, 0);
    while !rest.is_empty() && !tokenizer.sink.ended.get() && separators <= MAX_SEPARATORS {
        let (piece, tail) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        rest = tail;
        let queue = BufferQueue::default();
        queue.push_back(StrTendril::from(piece));
        let _ = tokenizer.feed(&queue);
        if tokenizer.sink.saw_token.take() {
            separators = 0;
        }
        separators += piece.bytes().filter(|byte| b" \t\n\x0C\r/\"'".contains(byte)).count();
    }
    tokenizer.sink.contents.take()
}

/// Consumes tokens up to the end of the head.
#[derive(Default)]
struct Head {
    /// Name of the meta tags we're looking for.
    name: String,
    contents: RefCell<Vec<String>>,
    /// Number of open templates, whose content isn't part of the page.
    templates: Cell<usize>,
    /// Set while the tokenizer is in an element that can only contain text.
    in_text: Cell<bool>,
    ended: Cell<bool>,
    saw_token: Cell<bool>,
}

impl TokenSink for Head {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if matches!(token, Token::ParseError(_)) || self.ended.get() {
            return TokenSinkResult::Continue;
        }
        self.saw_token.set(true);
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return self.start(&tag),
            Token::TagToken(tag) => self.end(&tag),
            Token::CharacterTokens(text) => {
                self.text(text.chars().all(|c| matches!(c, '\t' | '\n' | '\x0C' | '\r' | ' ')));
            }
            Token::NullCharacterToken => self.text(false),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Head {
    fn start(&self, tag: &Tag) -> TokenSinkResult<()> {
        let in_template = self.templates.get() > 0;
        let text = |state| {
            self.in_text.set(true);
            TokenSinkResult::RawData(state)
        };
        match &*tag.name {
            "title" => return text(Rcdata),
            "style" | "noframes" | "noscript" => return text(Rawtext),
            "script" => return text(ScriptData),
            "template" => self.templates.set(self.templates.get() + 1),
            "textarea" if in_template => return text(Rcdata),
            "xmp" | "iframe" | "noembed" if in_template => return text(Rawtext),
            "plaintext" if in_template => return TokenSinkResult::Plaintext,
            _ if in_template => {}
            "meta" => self.meta(&tag.attrs),
            "html" | "head" | "base" | "basefont" | "bgsound" | "link" => {}
            _ => self.ended.set(true),
        }
        TokenSinkResult::Continue
    }

    fn end(&self, tag: &Tag) {
        if self.in_text.take() {
            return;
        }
        match &*tag.name {
            "template" => self.templates.set(self.templates.get().saturating_sub(1)),
            "head" | "body" | "html" | "br" if self.templates.get() == 0 => self.ended.set(true),
            _ => {}
        }
    }

    fn text(&self, is_blank: bool) {
        if !is_blank && !self.in_text.get() && self.templates.get() == 0 {
            self.ended.set(true);
        }
    }

    fn meta(&self, attributes: &[Attribute]) {
        let value = |name: &str| {
            let found = attributes.iter().find(|attribute| &*attribute.name.local == name);
            found.map(|attribute| attribute.value.to_string())
        };
        if value("name").is_some_and(|name| name.eq_ignore_ascii_case(&self.name)) {
            self.contents.borrow_mut().push(value("content").unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> usize {
        let contents = meta_contents(html, "proof");
        assert!(contents.iter().all(|content| content == "CODE"), "{contents:?}");
        contents.len()
    }

    const TAG: &str = "<meta name=proof content=CODE>";

    #[test]
    fn tags_that_a_browser_puts_into_the_head_are_found() {
        for html in [
            TAG.to_owned(),
            format!("\u{feff}<!doctype html>\n<html lang=de><head>\n{TAG}</head>"),
            format!("<title>a <b> c</title><style>a > b</style><script>'<p>'</script>{TAG}"),
            format!("<!-- a --><link rel=icon href='data:,x'><base href=/ >{TAG}"),
            format!("<noscript><style>*{{}}</style></noscript>{TAG}"),
            format!("<template><p>{TAG}</p><template></template></template>{TAG}"),
            "<META NAME='Proof' CONTENT=\"CODE\"/>".to_owned(),
            format!("<title>{}</title>{TAG}", "long ".repeat(50_000)),
        ] {
            assert_eq!(found(&html), 1, "{}", &html[..html.len().min(80)]);
        }
    }

    #[test]
    fn text_that_resembles_a_tag_is_not_found() {
        let text = "meta name=proof content=CODE";
        for html in [
            // After a comment, a visitor could get this in without any special characters.
            format!("<!-- newest entry -->{text} <b>x</b>"),
            format!("<head><!-- newest entry -->{text}<!-- end --></head>"),
            format!("<!-- {TAG}"),
            format!("<!-- a --!>{text}>"),
            format!("<!-->{text}>"),
            format!("<![CDATA[{TAG}]]>"),
            format!("<?x {text}?>"),
            format!("<script>{TAG}</script>"),
            format!("<script><!--<script></script>{TAG}</script>"),
            format!("<style>{TAG}</style>"),
            format!("<title>{TAG}</title>"),
            format!("<noscript>{TAG}</noscript>"),
            format!("<noframes>{TAG}</noframes>"),
            format!("<template>{TAG}</template>"),
            format!("<template><textarea></template>{TAG}</textarea></template>"),
            format!("<template><template></template>{TAG}</template>"),
            format!("<meta name=x content='{TAG}'>"),
            format!("<link title=\"{TAG}\">"),
            "</meta name=proof content=CODE>".to_owned(),
            "<metadata name=proof content=CODE>".to_owned(),
            "<meta data-name=proof content=CODE>".to_owned(),
            "<meta name=x name=proof content=CODE>".to_owned(),
        ] {
            assert_eq!(found(&html), 0, "{html}");
        }
    }

    #[test]
    fn tags_after_the_head_are_not_found() {
        for before in [
            "</head>",
            "<body>",
            "<p>",
            "<guestbook>",
            "hello",
            "\0",
            "&amp;",
            "</br>",
            "</body>",
            "<textarea>",
            "<svg>",
            "<h1>x</h1>",
            "<frameset>",
            "<![CDATA[x]]>y",
        ] {
            assert_eq!(found(&format!("{before}{TAG}")), 0, "{before}");
        }
    }

    #[test]
    fn tag_with_too_many_attributes_is_ignored() {
        let attributes: String = (0..60_000).map(|n| format!(" a{n}")).collect();
        assert_eq!(found(&format!("<meta{attributes} name=proof content=CODE>")), 0);
    }
}
