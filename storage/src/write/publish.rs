//! Publishes the changes of a writer as the next generation.

use aurora_inverted::{FIELDS, FieldLengths, LengthCodes, Tombstones, WINDOW, encode_lengths, length_from_code};
use roaring::RoaringBitmap;

use crate::column::have_same_terms;
use crate::error::StorageError;
use crate::manifest::{FORMAT_VERSION, Manifest, ManifestUpdate, SegmentInfo};
use crate::read::{BLOCK_IDS, ChunkId, Snapshot, VectorBlockWriter, files};
use crate::tables::{Operation, Table, block_key, chunk_key};
use crate::unfinished::Unfinished;
use crate::write::commit::Committer;
use crate::write::generation::generation_rows;
use crate::write::merge_policy::{MergeCandidate, merge_candidates};
use crate::write::segment_input::SegmentInput;
use crate::write::state::WriterState;

/// Writes the next generation and returns its manifest. Returns the old manifest if nothing has changed.
pub(crate) fn publish(mut state: WriterState, update: ManifestUpdate) -> Result<Manifest, StorageError> {
    let old = state.base.manifest();
    if !state.is_touched() && is_unchanged(old, &update) && old.columns[..] == state.columns[..] {
        return Ok(old.clone());
    }
    if !state.waiting.is_empty() {
        return Err(StorageError::Refused("ids were reserved for files that were not written".to_owned()));
    }
    check_model(&state, &update)?;
    check_columns(&state)?;
    state.vectors.finish(&mut |operations| state.committer.push_together(operations))?;
    state.values.finish(&mut |operation| state.committer.push(operation))?;
    let mut live = state.base.live() | &state.added;
    live -= &state.dead;
    let (segments, next_segment) = write_segments(&mut state, &live)?;
    // From here on, all operations are in one transaction, together with the last batch of segment rows.
    write_lengths(&mut state, &live)?;
    let field_totals = totals(&state, &live)?;
    let mut unfinished = Unfinished { rows: state.base.manifest().unfinished.rows.clone(), ..update.unfinished };
    let file_count = write_files(&mut state, &mut unfinished)?;
    remove_dead(&mut state, &live)?;
    remove_segments(&mut state, &segments)?;
    let old = state.base.manifest();
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        generation: old.generation + 1,
        model: update.model,
        head_commit: update.head_commit,
        root: update.root,
        fingerprints: update.fingerprints,
        columns: state.columns.to_vec(),
        unfinished,
        created: if old.generation == 0 { update.now } else { old.created },
        updated: update.now,
        complete: update.complete,
        imported: false,
        chunk_count: live.len(),
        file_count,
        field_totals,
        segments,
        next_chunk_id: state.next_id,
        next_segment,
        summary: update.summary,
    };
    generation_rows(&manifest, live)?.into_iter().for_each(|row| state.committer.push_last(row));
    state.committer.finish()?;
    Ok(manifest)
}

/// Whether an update contains no change that needs a new generation.
fn is_unchanged(old: &Manifest, update: &ManifestUpdate) -> bool {
    old.generation > 0
        && old.model == update.model
        && old.head_commit == update.head_commit
        && old.root == update.root
        && old.fingerprints == update.fingerprints
        && (Unfinished { rows: Vec::new(), ..old.unfinished.clone() }) == update.unfinished
        && old.complete == update.complete
        && !old.imported
}

/// Checks that the added vectors have the dimensions of the model.
fn check_model(state: &WriterState, update: &ManifestUpdate) -> Result<(), StorageError> {
    let named = update.model.as_ref().map(|model| model.dimensions);
    match state.vectors.announced_dimensions() {
        Some(dimensions) if named != Some(dimensions) => Err(StorageError::Refused(format!(
            "vectors of {dimensions} dimensions were added; dimensions of the model in the manifest: {}",
            named.map_or("none".to_owned(), |named| named.to_string())
        ))),
        _ => Ok(()),
    }
}

/// Checks that the chunks of the base generation that stay live have the terms that the columns require.
fn check_columns(state: &WriterState) -> Result<(), StorageError> {
    let kept = (state.base.live() - &state.dead).len();
    if kept == 0 || have_same_terms(&state.base.manifest().columns, &state.columns) {
        return Ok(());
    }
    Err(StorageError::Refused(format!(
        "the custom columns have other uses than before, but {kept} chunks were not stored again"
    )))
}

/// Writes the windows of field lengths that contain new chunks.
fn write_lengths(state: &mut WriterState, live: &RoaringBitmap) -> Result<(), StorageError> {
    let base = state.base.clone();
    let from = state.lengths_from;
    let old = base.field_lengths_of(from..from + 1)?;
    for window in from / WINDOW..state.next_id.div_ceil(WINDOW) {
        let ids = window * WINDOW..((window + 1) * WINDOW).min(state.next_id);
        if live.range_cardinality(ids.clone()) > 0 {
            let rows: Vec<_> = ids.map(|id| length(&old, &state.lengths, from, id)).collect();
            state.committer.push_last(Operation::put(Table::Lengths, block_key(window), encode_lengths(&rows)));
        }
    }
    Ok(())
}

/// Returns the field lengths of a chunk. Those of new chunks are in `new`, starting at the id `from`. Those of older
/// chunks are in the base generation.
fn length(old: &FieldLengths<'_>, new: &[LengthCodes], from: u32, id: u32) -> LengthCodes {
    match id.checked_sub(from) {
        Some(row) => new.get(row as usize).copied().unwrap_or_default(),
        None => old.of(ChunkId(id)),
    }
}

/// Writes new segments. Returns all segments of the new generation, and the next free segment number.
fn write_segments(state: &mut WriterState, live: &RoaringBitmap) -> Result<(Vec<SegmentInfo>, u32), StorageError> {
    let base = state.base.clone();
    let first_added = base.manifest().next_chunk_id;
    let added = live.range_cardinality(first_added..);
    let mut next = base.manifest().next_segment;
    let mut segments = Vec::new();
    for candidate in merge_candidates(&base.manifest().segments, live, (added > 0).then_some(added)) {
        if !candidate.needs_merge() {
            segments.extend(candidate.segments);
            continue;
        }
        segments.push(write_segment(state, &base, live, &candidate, next, first_added)?);
        next += 1;
    }
    Ok((segments, next))
}

fn write_segment(
    state: &mut WriterState,
    base: &Snapshot,
    live: &RoaringBitmap,
    merge: &MergeCandidate,
    id: u32,
    first_added: u32,
) -> Result<SegmentInfo, StorageError> {
    let first_chunk = merge.segments.first().map_or(first_added, |info| info.first_chunk);
    let last = merge.segments.last().map_or(state.next_id, |info| info.end_chunk);
    let end_chunk = if merge.has_new { state.next_id } else { last };
    let (old, new, from) = (base.field_lengths_of(first_chunk..end_chunk)?, &state.lengths, state.lengths_from);
    let mut deleted = RoaringBitmap::new();
    deleted.insert_range(first_chunk..end_chunk);
    deleted -= live;
    let input = SegmentInput {
        info: SegmentInfo { id, first_chunk, end_chunk, chunks: merge.live, terms: 0, postings: 0, bytes: 0 },
        base,
        segments: &merge.segments,
        inversion: merge.has_new.then_some(&state.inversion),
        length: &|chunk| length(&old, new, from, chunk),
        tombstones: &Tombstones::new(deleted),
        new_is_live: state.dead.is_disjoint(&state.added),
    };
    input.write(state.threads, |operations| state.committer.push_sealed(operations))
}

/// Returns the sums of the field lengths of all live chunks.
fn totals(state: &WriterState, live: &RoaringBitmap) -> Result<[u64; FIELDS], StorageError> {
    let mut totals = state.base.field_totals();
    let mut add = |row: LengthCodes, sign: fn(u64, u64) -> u64| {
        for (total, length) in totals.iter_mut().zip(row) {
            *total = sign(*total, u64::from(length_from_code(length)));
        }
    };
    for id in state.base.live() & &state.dead {
        let window = state.base.window_lengths(id / WINDOW)?;
        add(window.at((id % WINDOW) as u16), u64::saturating_sub);
    }
    for id in live.range(state.lengths_from..) {
        let row = state.lengths.get((id - state.lengths_from) as usize);
        add(row.copied().unwrap_or_default(), u64::saturating_add);
    }
    Ok(totals)
}

/// Writes the changed file rows. Updates the counts of unfinished rows, and returns the number of all file rows.
fn write_files(state: &mut WriterState, unfinished: &mut Unfinished) -> Result<u64, StorageError> {
    let mut count = state.base.manifest().file_count;
    for (path, row) in std::mem::take(&mut state.files) {
        let key = files::key(&path);
        let old = state.base.file(&path)?;
        old.iter().for_each(|old| unfinished.subtract(&old.unfinished, old.chunks.len()));
        let existed = old.is_some();
        match row {
            Some(row) => {
                unfinished.add(&row.unfinished, row.chunks.len());
                count += u64::from(!existed);
                state.committer.push_last(Operation::put(Table::Files, key, files::encode(&row)));
            }
            None if existed => {
                count = count.saturating_sub(1);
                state.committer.push_last(Operation::delete(Table::Files, key));
            }
            None => {}
        }
    }
    Ok(count)
}

/// Removes the records of deleted chunks, and removes or rewrites blocks with few live chunks.
fn remove_dead(state: &mut WriterState, live: &RoaringBitmap) -> Result<(), StorageError> {
    let mut dead = state.dead.clone();
    dead &= state.base.live() | &state.added;
    for id in &dead {
        state.committer.push_last(Operation::delete(Table::Chunks, chunk_key(id)));
    }
    let dead_firsts: RoaringBitmap = state.dead_firsts.iter().map(|first| first.0).collect();
    for first in &dead_firsts {
        for table in [Table::Sources, Table::Representations] {
            state.committer.push_last(Operation::delete(table, chunk_key(first)));
        }
    }
    let committer = &mut state.committer;
    state.values.publish(live, &dead, |operation| committer.push_last(operation))?;
    state.closed.remove_dead(&state.base, live, &dead, &dead_firsts, &mut |operation| {
        state.committer.push_last(operation);
        Ok(())
    })?;
    let alive = |block: u32, ids: u32| live.range_cardinality(block * ids..=block * ids + (ids - 1));
    for window in blocks_of(&dead, WINDOW).filter(|&window| alive(window, WINDOW) == 0) {
        state.committer.push_last(Operation::delete(Table::Lengths, block_key(window)));
    }
    for block in blocks_of(&dead, BLOCK_IDS) {
        let shared = (block + 1) * BLOCK_IDS > state.base.manifest().next_chunk_id;
        match alive(block, BLOCK_IDS) {
            0 => remove_vectors(state, block),
            alive if !shared => shrink_vectors(state, live, block, alive)?,
            _ => {}
        }
    }
    Ok(())
}

/// Returns the numbers of the blocks of `size` ids that contain at least one of `ids`, without duplicates.
fn blocks_of(ids: &RoaringBitmap, size: u32) -> impl Iterator<Item = u32> + '_ {
    let mut last = None;
    ids.iter().map(move |id| id / size).filter(move |block| last.replace(*block) != Some(*block))
}

/// Rewrites a block of vectors without the vectors of deleted chunks, if the number of live chunks is at most half the
/// number of vectors.
fn shrink_vectors(state: &mut WriterState, live: &RoaringBitmap, block: u32, alive: u64) -> Result<(), StorageError> {
    let base = state.base.clone();
    let Some(stored) = base.vectors(block)?.filter(|stored| 2 * alive <= stored.len() as u64) else { return Ok(()) };
    let mut writer = VectorBlockWriter::new(stored.dimensions);
    for row in stored.iter() {
        let (index, (scale, row)) = base.check(row)?;
        if live.contains(block * BLOCK_IDS + index as u32) {
            writer.push(index, scale, &row);
        }
    }
    match alive {
        0 => remove_vectors(state, block),
        _ => writer.operations(block).into_iter().for_each(|operation| state.committer.push_last(operation)),
    }
    Ok(())
}

fn remove_vectors(state: &mut WriterState, block: u32) {
    for table in [Table::Codes, Table::Vectors] {
        state.committer.push_last(Operation::delete(table, block_key(block)));
    }
}

/// Removes the segments that are not part of the new generation.
fn remove_segments(state: &mut WriterState, kept: &[SegmentInfo]) -> Result<(), StorageError> {
    let base = state.base.clone();
    let gone = base.manifest().segments.iter().filter(|old| kept.iter().all(|new| new.id != old.id));
    for info in gone {
        remove_keys(info.id, Table::Dictionary, &base, &mut state.committer)?;
        remove_keys(info.id, Table::Postings, &base, &mut state.committer)?;
    }
    Ok(())
}

fn remove_keys(segment: u32, table: Table, base: &Snapshot, committer: &mut Committer) -> Result<(), StorageError> {
    let prefix = segment.to_be_bytes();
    for row in base.rows(table, &prefix) {
        let (key, _) = row?;
        if !key.starts_with(&prefix) {
            break;
        }
        committer.push_last(Operation::delete(table, key));
    }
    Ok(())
}
