//! The custom columns of a run.

use aurora_storage::ColumnDeclaration;

/// What the custom columns of a run are used for.
#[derive(Debug)]
pub(crate) struct CustomColumns {
    declarations: Vec<ColumnDeclaration>,
}

impl CustomColumns {
    /// The columns with their declarations.
    pub(crate) fn new(declarations: Vec<ColumnDeclaration>) -> Self {
        Self { declarations }
    }

    /// The declarations.
    pub(crate) fn declarations(&self) -> &[ColumnDeclaration] {
        &self.declarations
    }

    /// Whether any column has the use `terms`.
    pub(crate) fn have_terms(&self) -> bool {
        self.declarations.iter().any(|column| column.terms.is_some())
    }

    /// The names of the columns with the use `embed`.
    pub(crate) fn embedded(&self) -> impl Iterator<Item = &str> {
        self.declarations.iter().filter(|column| column.embed).map(|column| column.name.as_str())
    }

    /// The columns with the use `terms`, each with the weight of its terms.
    pub(crate) fn term_weights(&self) -> String {
        let weight = |column: &ColumnDeclaration| Some(format!("{}={}", column.name, column.terms?));
        self.declarations.iter().filter_map(weight).collect::<Vec<_>>().join(",")
    }
}
