//! Blocks that other answers share with the terminal, as HTML.

use maud::{Markup, html};

use super::context::{Context, table};
use super::top::copyable;
use crate::render::document::{Block, Item, Quote};

/// Blocks one after the other.
pub(super) fn blocks(blocks: &[Block], context: &Context<'_>) -> Markup {
    html! { @for block in blocks { (one(block, context)) } }
}

fn one(block: &Block, context: &Context<'_>) -> Markup {
    match block {
        Block::Quotes(quotes) => self::quotes(quotes),
        Block::Figures(figures) => html! { ul.figures { @for figure in figures { li { (figure) } } } },
        Block::Items { label, items, numbered } => self::items(label, items, *numbered, context),
        Block::Code(code) => copyable(code, context),
        Block::Section(title) => html! { h3 { (title) } },
        Block::Table { head, rows } => {
            let rows = rows.iter().map(|row| row.iter().map(|cell| html! { (cell) }).collect());
            table(head, rows.collect())
        }
    }
}

fn items(label: &str, items: &[Item], numbered: bool, context: &Context<'_>) -> Markup {
    let inside = html! { @for item in items { li { (self::item(item, context)) } } };
    html! {
        @if let ([single], false) = (items, numbered) {
            div.item { @if !label.is_empty() { strong { (label) } " " } (item(single, context)) }
        } @else {
            @if !label.is_empty() { h4 { (label) } }
            @if numbered { ol { (inside) } } @else if !items.is_empty() { ul { (inside) } }
        }
    }
}

fn item(item: &Item, context: &Context<'_>) -> Markup {
    html! {
        (item.text)
        @if let Some(command) = &item.command { (copyable(command, context)) }
        @if !item.quotes.is_empty() { (quotes(&item.quotes)) }
    }
}

fn quotes(quotes: &[Quote]) -> Markup {
    html! {
        div.code tabindex="0" role="group" {
            @for quote in quotes {
                div.row { span.ln { (quote.place) } span.text { (quote.text) @if let Some(remark) = &quote.remark { span.remark { "  " (remark) } } } }
            }
        }
    }
}
