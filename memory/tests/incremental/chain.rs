//! What `undo` goes back to, as a model.

/// The states of one entry, the current one last; each but the current one is what an undo may go back to.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    states: Vec<State>,
}

#[derive(Debug, Clone)]
struct State {
    /// The changes that make the entry, by their places; `None` where there is no entry.
    changes: Option<Vec<usize>>,
    kept: Kept,
}

/// Whether a state can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// There was never an entry: that is known without a version.
    Before,
    /// As a version, until a compaction.
    Stored,
    Dropped,
}

/// Why there is nothing to undo.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NothingToUndo;

impl Default for Chain {
    fn default() -> Self {
        Self { states: vec![State { changes: None, kept: Kept::Before }] }
    }
}

impl Chain {
    /// The changes that make the entry; `None` where there is none.
    pub(crate) fn current(&self) -> Option<&Vec<usize>> {
        self.states.last().and_then(|state| state.changes.as_ref())
    }

    /// Adds a state; `is_known` where the entry has had a version before.
    pub(crate) fn push(&mut self, changes: Option<Vec<usize>>, is_known: bool) {
        if let [only] = self.states.as_mut_slice()
            && is_known
        {
            only.kept = Kept::Stored;
        }
        self.states.push(State { changes, kept: Kept::Stored });
    }

    pub(crate) fn undo(&mut self) -> Result<(), NothingToUndo> {
        match self.states.as_slice() {
            [.., State { kept: Kept::Before | Kept::Stored, .. }, _] => {
                self.states.pop();
                Ok(())
            }
            _ => Err(NothingToUndo),
        }
    }

    /// Forgets the states before the current one.
    pub(crate) fn compact(&mut self) {
        let before = self.states.len() - 1;
        for state in self.states[..before].iter_mut().filter(|state| state.kept == Kept::Stored) {
            state.kept = Kept::Dropped;
        }
    }
}
