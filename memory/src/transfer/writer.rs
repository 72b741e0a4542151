//! Export of a memory as lines of JSON.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use aurora_confined::Directory;
use serde::Serialize;

use super::record::{Access, EntryLine, Header, Time, VERSION};
use crate::error::MemoryError;
use crate::memory::Memory;
use crate::store::EntryView;

impl Memory {
    /// Writes a snapshot of the entries to `out` as lines of JSON. Returns the number of entries.
    ///
    /// The first line is a header. Each following line contains one entry, in the order of ids. Removed entries and
    /// earlier versions are not exported. Errors contain `name` as the path of `out`.
    ///
    /// # Errors
    /// Fails if the entries cannot be read or `out` cannot be written.
    pub fn export(&self, out: &mut dyn Write, name: &Path) -> Result<u64, MemoryError> {
        let view = self.view()?;
        let entries = count(&view)?;
        let mut lines = LineWriter { out: BufWriter::new(out), name };
        lines.write(&Header { aurora_memory: VERSION, entries })?;
        self.visit_entries(&view, |id, version, access| {
            lines.write(&EntryLine {
                id: Cow::Borrowed(id),
                scope: version.scope,
                session: version.session.clone(),
                created_at: Time(version.created),
                edited_at: Time(version.edited),
                access: access.and_then(Access::from_record),
                entry: &version.document,
            })
        })?;
        lines.out.flush().map_err(MemoryError::io(name))?;
        Ok(entries)
    }

    /// Exports the entries to the file `target`, and returns the number of entries. An existing file is replaced
    /// atomically after all data is on disk.
    ///
    /// # Errors
    /// Fails if the entries cannot be read, if `target` exists and is not a file, or if its directory cannot be
    /// written. After any of these errors, `target` is unchanged.
    pub fn export_to(&self, target: &Path) -> Result<u64, MemoryError> {
        if target.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(MemoryError::Unfit(format!("{} is not a file that can be replaced", target.display())));
        }
        // If `target` is a symbolic link, the file that it points to is replaced, not the link.
        let real = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let io = || MemoryError::io(target);
        let directory = match real.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let opened = Directory::open_root(directory).map_err(io())?;
        let mut builder = tempfile::Builder::new();
        // `tempfile` creates files that only the user can read, so the export is private.
        builder.prefix(".aurora-export-");
        let mut file = builder.tempfile_in(directory).map_err(io())?;
        let entries = self.export(file.as_file_mut() as &mut File, target)?;
        file.as_file().sync_all().map_err(io())?;
        file.persist(&real).map_err(|error| io()(error.error))?;
        if cfg!(unix) {
            opened.synchronise().map_err(io())?;
        }
        Ok(entries)
    }
}

/// Returns the number of entries, without removed entries.
fn count(view: &EntryView) -> Result<u64, MemoryError> {
    let mut count = 0;
    for entry in view.from("")? {
        count += u64::from(entry?.1.document.is_some());
    }
    Ok(count)
}

struct LineWriter<'n, W: Write> {
    out: BufWriter<W>,
    name: &'n Path,
}

impl<W: Write> LineWriter<'_, W> {
    fn write(&mut self, line: &impl Serialize) -> Result<(), MemoryError> {
        let written = serde_json::to_writer(&mut self.out, line).map_err(io::Error::from);
        written.and_then(|()| self.out.write_all(b"\n")).map_err(MemoryError::io(self.name))
    }
}
