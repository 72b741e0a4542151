//! A model of the versions of an entry, to predict the effect of `undo`.

/// The states of one entry, oldest first. The last state is the current state. An undo returns to the state before it.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    states: Vec<State>,
}

#[derive(Debug, Clone)]
struct State {
    /// Indexes of the recorded changes that produce the entry; `None` if the entry does not exist in this state.
    changes: Option<Vec<usize>>,
    restorability: Restorability,
}

/// Whether an undo can restore a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restorability {
    /// The state before the entry was first added. It can always be restored, because it needs no stored version.
    Before,
    /// The state can be restored until a compaction, because it is stored as a version.
    Stored,
    /// The state cannot be restored, because a compaction has deleted its version.
    Dropped,
}

/// The error of an undo if the previous state cannot be restored.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NothingToUndo;

impl Default for Chain {
    fn default() -> Self {
        Self { states: vec![State { changes: None, restorability: Restorability::Before }] }
    }
}

impl Chain {
    /// Returns the indexes of the recorded changes that produce the entry; `None` if the entry does not exist.
    pub(crate) fn current(&self) -> Option<&Vec<usize>> {
        self.states.last().and_then(|state| state.changes.as_ref())
    }

    /// Appends a state. `has_version` is `true` if the memory already has a version of the entry, even if the entry was
    /// removed.
    pub(crate) fn push(&mut self, changes: Option<Vec<usize>>, has_version: bool) {
        if let [only] = self.states.as_mut_slice()
            && has_version
        {
            only.restorability = Restorability::Stored;
        }
        self.states.push(State { changes, restorability: Restorability::Stored });
    }

    pub(crate) fn undo(&mut self) -> Result<(), NothingToUndo> {
        match self.states.as_slice() {
            [.., State { restorability: Restorability::Before | Restorability::Stored, .. }, _] => {
                self.states.pop();
                Ok(())
            }
            _ => Err(NothingToUndo),
        }
    }

    /// Marks the stored states before the current state as dropped.
    pub(crate) fn compact(&mut self) {
        let before = self.states.len() - 1;
        for state in self.states[..before].iter_mut().filter(|state| state.restorability == Restorability::Stored) {
            state.restorability = Restorability::Dropped;
        }
    }
}
