//! A model of `undo`.

/// The states of one entry, the current state last. An undo can restore the earlier states.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    states: Vec<State>,
}

#[derive(Debug, Clone)]
struct State {
    /// Indexes of the changes that produce the entry; `None` if the entry does not exist.
    changes: Option<Vec<usize>>,
    kept: Restorability,
}

/// Whether a state can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restorability {
    /// The entry did not exist yet, which is known without a version.
    Before,
    /// The state is stored as a version until a compaction.
    Stored,
    Dropped,
}

/// The error if there is nothing to undo.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NothingToUndo;

impl Default for Chain {
    fn default() -> Self {
        Self { states: vec![State { changes: None, kept: Restorability::Before }] }
    }
}

impl Chain {
    /// Returns the changes that produce the entry; `None` if it does not exist.
    pub(crate) fn current(&self) -> Option<&Vec<usize>> {
        self.states.last().and_then(|state| state.changes.as_ref())
    }

    /// Adds a state. `is_known` tells whether the entry had a version before.
    pub(crate) fn push(&mut self, changes: Option<Vec<usize>>, is_known: bool) {
        if let [only] = self.states.as_mut_slice()
            && is_known
        {
            only.kept = Restorability::Stored;
        }
        self.states.push(State { changes, kept: Restorability::Stored });
    }

    pub(crate) fn undo(&mut self) -> Result<(), NothingToUndo> {
        match self.states.as_slice() {
            [.., State { kept: Restorability::Before | Restorability::Stored, .. }, _] => {
                self.states.pop();
                Ok(())
            }
            _ => Err(NothingToUndo),
        }
    }

    /// Drops the states before the current one.
    pub(crate) fn compact(&mut self) {
        let before = self.states.len() - 1;
        for state in self.states[..before].iter_mut().filter(|state| state.kept == Restorability::Stored) {
            state.kept = Restorability::Dropped;
        }
    }
}
