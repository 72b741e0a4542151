//! The layout of a matrix for [`byte_products`](crate::byte_products).

/// Columns of a panel of the right-hand matrix.
pub const PANEL: usize = 16;
/// Components of a column that stand side by side in a panel.
pub const STEP: usize = 4;
