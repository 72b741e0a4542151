//! Prints the texts of results that fit into a token budget, best first. Before each text, prints a header of the form
//! `path:start-end name`.

use std::io::{self, Write};

use aurora_query::{Context, ContextBlock, display_path};

use crate::output::{Links, Painter, Role, code, sanitize};

/// Returns the blocks as [`write`] prints them without colours and links.
pub(crate) fn plain(context: &Context) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = write(&mut out, context, &|_| String::new(), Painter::PLAIN, &Links::default());
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes the blocks, separated by blank lines.
pub(crate) fn write(
    out: &mut impl Write,
    context: &Context,
    language_of: &dyn Fn(&ContextBlock) -> String,
    paint: Painter,
    links: &Links,
) -> io::Result<()> {
    for (at, block) in context.blocks.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let header = paint.paint(Role::Path, &sanitize::line(&block.header()));
        let file = display_path(block.root.as_deref(), &block.file);
        writeln!(out, "{}", links.link_to(block.source, &file, Some(block.line_start), &header))?;
        if !paint.is_enabled() {
            writeln!(out, "{}", sanitize::block(&block.text))?;
            continue;
        }
        let highlights = code::highlight(&block.text, &language_of(block));
        for (text, highlights) in block.text.lines().zip(&highlights) {
            writeln!(out, "{}", code::CodeLine { text, highlights, matches: &[] }.render(0, None, paint))?;
        }
    }
    Ok(())
}
