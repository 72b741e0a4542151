//! Splits text at syntax boundaries and merges small pieces, as in cAST (Zhang et al. 2025, "cAST: Enhancing Code
//! Retrieval-Augmented Generation with Structural Chunking via Abstract Syntax Tree").
//!
//! A piece that is too large is cut at the outermost boundaries inside it, and recursively at inner boundaries. Then
//! neighbouring pieces are merged as long as the result fits. Sizes count characters other than white space, so that
//! indentation does not matter.

use std::ops::Range;

use aurora_languages::Boundary;

/// A unit that is not cut: the text between two boundaries, or a hole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Atom {
    pub(crate) bytes: Range<u32>,
    /// Depth of the boundary at the start of the atom.
    depth: u32,
    weight: usize,
    /// For a hole, the symbol that has its own chunk.
    pub(crate) hole: Option<u32>,
}

/// A span of the text. A span that is a hole belongs to a symbol with its own chunk, and the symbol's signature
/// replaces the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) bytes: Range<u32>,
    /// For a hole, the symbol and the weight of its signature.
    pub(crate) hole: Option<(u32, usize)>,
}

/// Returns the size of a text: the number of characters other than white space.
pub(crate) fn weight(text: &str) -> usize {
    text.bytes().filter(|b| !b.is_ascii_whitespace() && (*b as i8) >= -0x40).count()
}

/// Splits `segments` into consecutive pieces with a size of at most `limit`. Only the signature of a hole can exceed
/// the limit. Blank lines that fit into neither adjacent piece are dropped.
pub(crate) fn split(text: &str, segments: &[Segment], boundaries: &[Boundary], limit: usize) -> Vec<Vec<Atom>> {
    let whole = |segment: &Segment| Atom {
        bytes: segment.bytes.clone(),
        depth: 0,
        weight: segment
            .hole
            .map_or_else(|| weight(slice(text, &segment.bytes)), |(_, signature_weight)| signature_weight),
        hole: segment.hole.map(|(symbol, _)| symbol),
    };
    let atoms: Vec<_> = segments.iter().map(whole).collect();
    if atoms.iter().map(|atom| atom.weight).sum::<usize>() <= limit {
        return vec![atoms];
    }
    let mut cut = Vec::new();
    for atom in atoms {
        match atom.hole {
            Some(_) => {
                let depth = depth_at(boundaries, atom.bytes.start).unwrap_or(1);
                cut.push(Atom { depth, ..atom });
            }
            None => cut_atom(text, atom.bytes, boundaries, limit, &mut cut),
        }
    }
    let sums: Vec<usize> = std::iter::once(0)
        .chain(cut.iter().scan(0, |sum, atom| {
            *sum += atom.weight;
            Some(*sum)
        }))
        .collect();
    let mut pieces = partition(&cut, &sums, 0..cut.len(), limit);
    fill_head(&mut pieces, &sums, limit);
    drop_blank(text, &cut, &mut pieces);
    pieces.into_iter().map(|piece| cut[piece].to_vec()).collect()
}

/// If the first piece is little more than the head of a declaration, moves atoms from the second piece to the first
/// piece, up to `limit`. A head alone would be a poor result for a search for the definition.
fn fill_head(pieces: &mut Vec<Range<usize>>, sums: &[usize], limit: usize) {
    const HEAD: usize = 6;
    let [first, second, ..] = pieces.as_mut_slice() else { return };
    if (sums[first.end] - sums[first.start]) * HEAD > limit {
        return;
    }
    while second.start < second.end && sums[first.end + 1] - sums[first.start] <= limit {
        first.end += 1;
        second.start += 1;
    }
    pieces.retain(|piece| piece.start < piece.end);
}

/// Drops pieces that contain only white space. If all pieces do, keeps the first one.
fn drop_blank(text: &str, atoms: &[Atom], pieces: &mut Vec<Range<usize>>) {
    let is_visible = |atom: &Atom| match atom.hole {
        Some(_) => atom.weight > 0,
        None => !slice(text, &atom.bytes).trim_start().is_empty(),
    };
    let is_blank = |piece: &Range<usize>| !atoms[piece.clone()].iter().any(is_visible);
    if pieces.iter().all(is_blank) {
        pieces.truncate(1);
    } else {
        pieces.retain(|piece| !is_blank(piece));
    }
}

fn partition(atoms: &[Atom], sums: &[usize], range: Range<usize>, limit: usize) -> Vec<Range<usize>> {
    let size = |range: &Range<usize>| sums[range.end] - sums[range.start];
    let inner = range.start + 1..range.end;
    let Some(depth) = atoms.get(inner.clone()).and_then(|a| a.iter().map(|atom| atom.depth).min()) else {
        return vec![range];
    };
    if size(&range) <= limit {
        return vec![range];
    }
    let cuts = inner.filter(|at| atoms[*at].depth == depth).chain([range.end]);
    let mut merged: Vec<Range<usize>> = Vec::new();
    let mut from = range.start;
    for at in cuts {
        for piece in partition(atoms, sums, from..at, limit) {
            match merged.last_mut() {
                Some(last) if size(&(last.start..piece.end)) <= limit => last.end = piece.end,
                _ => merged.push(piece),
            }
        }
        from = at;
    }
    merged
}

/// Cuts a span at all boundaries inside it. Parts that are still too large are cut at lines and, as a last resort,
/// anywhere.
fn cut_atom(text: &str, bytes: Range<u32>, boundaries: &[Boundary], limit: usize, cut: &mut Vec<Atom>) {
    let mut push = |bytes: Range<u32>, depth| {
        if !bytes.is_empty() {
            cut.push(Atom { weight: weight(slice(text, &bytes)), bytes, depth, hole: None });
        }
    };
    let inside = boundaries.partition_point(|b| b.at <= bytes.start);
    let ends = boundaries[inside..].iter().take_while(|b| b.at < bytes.end);
    let mut from = bytes.start;
    let mut depth = depth_at(boundaries, bytes.start).unwrap_or(1);
    for boundary in ends.copied().chain([Boundary { at: bytes.end, depth: 0 }]) {
        let span = from..boundary.at;
        if weight(slice(text, &span)) <= limit {
            push(span, depth);
        } else {
            for (n, (at, line)) in lines(text, &span, limit).into_iter().enumerate() {
                push(at..at + line.len() as u32, if n == 0 { depth } else { u32::MAX });
            }
        }
        (from, depth) = (boundary.at, boundary.depth);
    }
}

fn depth_at(boundaries: &[Boundary], at: u32) -> Option<u32> {
    boundaries.binary_search_by_key(&at, |b| b.at).ok().map(|found| boundaries[found].depth)
}

/// Returns the lines of a span with their offsets. Lines of more than `limit` bytes are cut.
fn lines<'t>(text: &'t str, span: &Range<u32>, limit: usize) -> Vec<(u32, &'t str)> {
    let mut found = Vec::new();
    let mut at = span.start;
    for mut line in slice(text, span).split_inclusive('\n') {
        while line.len() > limit.max(4) {
            let cut = line.floor_char_boundary(limit.max(4));
            found.push((at, &line[..cut]));
            line = &line[cut..];
            at += cut as u32;
        }
        found.push((at, line));
        at += line.len() as u32;
    }
    found
}

fn slice<'t>(text: &'t str, bytes: &Range<u32>) -> &'t str {
    text.get(bytes.start as usize..bytes.end as usize).unwrap_or_default()
}
