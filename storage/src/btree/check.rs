//! The structure of a whole tree, checked page by page.

use roaring::RoaringTreemap;

use super::page::{Damage, Pages, Tree};

/// A page still to visit, and what the page above says of it.
struct Visit<'a> {
    number: u64,
    depth: u16,
    /// No key is below this.
    low: &'a [u8],
    /// Every key is below this.
    high: Option<&'a [u8]>,
}

/// Checks every page of a tree: bounds, kinds, the order of keys, depth, the number of entries, and
/// that no page is used twice (`used` collects them over several trees).
///
/// Each fault is given to `report`; what lies below a faulty page is left out.
pub(crate) fn check_tree(pages: &Pages<'_>, tree: Tree, used: &mut RoaringTreemap, report: &mut dyn FnMut(Damage)) {
    if tree.is_empty() {
        return;
    }
    let mut entries = 0u64;
    let mut faults = 0u64;
    let mut open = vec![Visit { number: tree.root, depth: 1, low: &[], high: None }];
    while let Some(Visit { number, depth, low, high }) = open.pop() {
        let mut fault = |damage| {
            faults += 1;
            report(damage);
        };
        if !used.insert(number) {
            fault(Damage::page(number, "is used twice"));
            continue;
        }
        let page = match pages.page(number) {
            Ok(page) => page,
            Err(damage) => {
                fault(damage);
                continue;
            }
        };
        if page.leaf != (depth == tree.depth) || depth > tree.depth {
            fault(Damage::page(number, "lies at the wrong depth"));
            continue;
        }
        if let Err(damage) = page.check_layout() {
            fault(damage);
        }
        let mut before = low;
        for index in 0..page.len {
            let key = match page.key(index) {
                Ok(_) if !page.leaf && index == 0 => low,
                Ok(key) => key,
                Err(damage) => {
                    fault(damage);
                    break;
                }
            };
            let ordered = if index == 0 { before <= key } else { before < key };
            if !ordered || high.is_some_and(|high| key >= high) {
                fault(Damage::page(number, "has keys out of order"));
                break;
            }
            before = key;
            if page.leaf {
                entries += 1;
                match pages.value(&page, index) {
                    Ok(value) => {
                        for overflow in value.overflow.into_iter().flatten() {
                            if !used.insert(overflow) {
                                fault(Damage::page(overflow, "is used twice"));
                            }
                        }
                    }
                    Err(damage) => fault(damage),
                }
                continue;
            }
            let above = match index + 1 < page.len {
                true => page.key(index + 1).ok(),
                false => high,
            };
            match page.child(index) {
                Ok(child) => open.push(Visit { number: child, depth: depth + 1, low: key, high: above }),
                Err(damage) => fault(damage),
            }
        }
    }
    if faults == 0 && entries != tree.entries {
        report(Damage(format!("a tree has {entries} entries, its root says {}", tree.entries)));
    }
}
