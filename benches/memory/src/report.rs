//! Prints the table of measurements.

use std::collections::BTreeSet;

use crate::Side;
use crate::measure::Figures;

/// Prints the measurements of every system, and the ratio of `aur` to each of the other systems.
pub(crate) fn print(columns: &[(Side, Figures)]) {
    let names: BTreeSet<&String> = columns.iter().flat_map(|(_, figures)| figures.keys()).collect();
    let product = columns.iter().find(|(side, _)| *side == Side::Product);
    print!("{:50}", "");
    columns.iter().for_each(|(side, _)| print!("{:>16}", side.name()));
    let others = || columns.iter().filter(|(side, _)| *side != Side::Product && product.is_some());
    others().for_each(|(side, _)| print!("{:>26}", format!("product / {}", side.name())));
    println!();
    for name in names {
        print!("{name:50}");
        for (_, figures) in columns {
            let shown = figures.get(name).map_or_else(|| "-".to_owned(), |figure| format!("{figure:.3}"));
            print!("{shown:>16}");
        }
        for (_, figures) in others() {
            let both = product.and_then(|(_, product)| Some((product.get(name)?, figures.get(name)?)));
            let ratio = both.map_or_else(|| "-".to_owned(), |(ours, theirs)| format!("{:.2}", ours / theirs));
            print!("{ratio:>26}");
        }
        println!();
    }
}
