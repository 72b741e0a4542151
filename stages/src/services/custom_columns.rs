//! The custom columns of a run.

use aurora_storage::ColumnDeclaration;

/// The custom columns of a run and their uses.
#[derive(Debug)]
pub(crate) struct CustomColumns {
    declarations: Vec<ColumnDeclaration>,
}

impl CustomColumns {
    pub(crate) fn new(declarations: Vec<ColumnDeclaration>) -> Self {
        Self { declarations }
    }

    /// Returns the declarations of the columns.
    pub(crate) fn declarations(&self) -> &[ColumnDeclaration] {
        &self.declarations
    }

    /// Whether any column has the use `terms`.
    pub(crate) fn have_terms(&self) -> bool {
        self.declarations.iter().any(|column| column.terms.is_some())
    }

    /// Returns the names of the columns with the use `embed`.
    pub(crate) fn embedded(&self) -> impl Iterator<Item = &str> {
        self.declarations.iter().filter(|column| column.embed).map(|column| column.name.as_str())
    }

    /// Returns the columns with the use `terms` and the weights of their terms, as `name=weight` separated by commas.
    pub(crate) fn term_weights(&self) -> String {
        let weight = |column: &ColumnDeclaration| Some(format!("{}={}", column.name, column.terms?));
        self.declarations.iter().filter_map(weight).collect::<Vec<_>>().join(",")
    }
}
