//! The table of commit headers with the fields that attribution needs. Each header is read from the repository once.

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};
use gix::hashtable::HashMap;
use gix::objs::CommitRefIter;
use gix::objs::commit::ref_iter::Token;
use rustc_hash::FxHashMap;

use crate::blame_config::Grafts;
use crate::mask::Mask;
use crate::objects::ObjectReader;

/// The header of a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CommitHeader {
    pub(crate) id: ObjectId,
    pub(crate) tree: ObjectId,
    /// The half-open range of the commit's parents in [`CommitTable::parents`].
    pub(crate) parents: (u32, u32),
    /// The index of the commit's author in [`CommitTable::authors`].
    pub(crate) author: u32,
    pub(crate) author_time: i64,
    pub(crate) committer_time: i64,
}

/// An author as spelled in commits, before applying `.mailmap`.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Author {
    pub(crate) name: BString,
    pub(crate) email: BString,
}

/// Commit headers in the order in which they were added. Headers of commits that are no longer reachable are not
/// removed.
#[derive(Default)]
pub(crate) struct CommitTable {
    pub(crate) headers: Vec<CommitHeader>,
    pub(crate) parents: Vec<ObjectId>,
    pub(crate) authors: Vec<Author>,
    positions: HashMap<ObjectId, u32>,
    known_authors: FxHashMap<Author, u32>,
    /// Masks secrets in the names and e-mail addresses of authors.
    mask: Option<Mask>,
}

impl CommitTable {
    /// Creates a table from cached headers.
    pub(crate) fn new(headers: Vec<CommitHeader>, parents: Vec<ObjectId>, authors: Vec<Author>) -> Self {
        let positions = (0u32..).zip(&headers).map(|(position, header)| (header.id, position)).collect();
        let known_authors = (0u32..).zip(&authors).map(|(position, author)| (author.clone(), position)).collect();
        Self { headers, parents, authors, positions, known_authors, mask: None }
    }

    /// Sets a mask that is applied to all authors that are added later.
    pub(crate) fn masking(self, mask: Option<Mask>) -> Self {
        Self { mask, ..self }
    }

    pub(crate) fn len(&self) -> usize {
        self.headers.len()
    }

    /// Returns the position of the commit `id`.
    pub(crate) fn position(&self, id: &ObjectId) -> Option<u32> {
        self.positions.get(id).copied()
    }

    /// Returns the parents of the commit at `position`, in order. A commit at the boundary of a shallow clone has no
    /// parents.
    pub(crate) fn parents_of(&self, position: u32) -> &[ObjectId] {
        let (start, end) = self.headers[position as usize].parents;
        &self.parents[start as usize..end as usize]
    }

    /// Returns the position of the commit `id`. If the commit is not in the table, reads its header from the
    /// repository. Returns `None` if the object is missing or not a commit. `grafts` replaces the parents of some
    /// commits.
    pub(crate) fn read(
        &mut self,
        reader: &ObjectReader,
        id: ObjectId,
        grafts: &Grafts,
        buffer: &mut Vec<u8>,
    ) -> Option<u32> {
        if let Some(known) = self.position(&id) {
            return Some(known);
        }
        reader.read(&id, buffer).filter(|&kind| kind == gix::objs::Kind::Commit)?;
        let header = self.parse(buffer, id, reader.hash_kind(), grafts.get(&id))?;
        let position = self.headers.len() as u32;
        self.headers.push(header);
        self.positions.insert(id, position);
        Some(position)
    }

    /// Parses the header of a commit. Returns `None` if the header contains no tree. A malformed author becomes an
    /// empty name, and a malformed time becomes 0.
    fn parse(
        &mut self,
        bytes: &[u8],
        id: ObjectId,
        hash: gix::hash::Kind,
        graft: Option<&Vec<ObjectId>>,
    ) -> Option<CommitHeader> {
        let first_parent = self.parents.len();
        let (mut tree, mut author) = (None, None);
        let (mut author_time, mut committer_time) = (0, 0);
        for token in CommitRefIter::from_bytes(bytes, hash) {
            match token {
                Ok(Token::Tree { id }) => tree = Some(id),
                Ok(Token::Parent { id }) => self.parents.push(id),
                Ok(Token::Author { signature }) => {
                    author = Some(self.author(signature));
                    author_time = signature.seconds();
                }
                Ok(Token::Committer { signature }) => {
                    committer_time = signature.seconds();
                    break;
                }
                _ => break,
            }
        }
        if graft.is_some() || tree.is_none() {
            self.parents.truncate(first_parent);
        }
        self.parents.extend(graft.filter(|_| tree.is_some()).into_iter().flatten());
        let author = author.unwrap_or_else(|| self.author(gix::actor::SignatureRef::default()));
        let parents = (first_parent as u32, self.parents.len() as u32);
        Some(CommitHeader { id, tree: tree?, parents, author, author_time, committer_time })
    }

    fn author(&mut self, signature: gix::actor::SignatureRef<'_>) -> u32 {
        let signature = signature.trim();
        let author = Author { name: signature.name.as_bstr().into(), email: signature.email.as_bstr().into() };
        if let Some(&known) = self.known_authors.get(&author) {
            return known;
        }
        let masked = self.masked(&author);
        let position = match self.known_authors.get(&masked) {
            Some(&known) => known,
            None => {
                let position = self.authors.len() as u32;
                self.authors.push(masked.clone());
                self.known_authors.insert(masked, position);
                position
            }
        };
        self.known_authors.insert(author, position);
        position
    }

    fn masked(&self, author: &Author) -> Author {
        let masked = |text: &BString| match (self.mask, std::str::from_utf8(text)) {
            (Some(mask), Ok(text)) => (mask.apply)(text.to_owned()).into(),
            _ => text.clone(),
        };
        Author { name: masked(&author.name), email: masked(&author.email) }
    }
}
