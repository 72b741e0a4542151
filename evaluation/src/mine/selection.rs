//! Chooses questions among many candidates, and decides which of them are held out.

use rustc_hash::FxHashMap;

use crate::random::hash;

/// Seed that decides which questions are held out. It is independent of the seed of a run, so that the same questions
/// are held out in all runs.
const SPLIT: u64 = 0x4845_4c44;

/// The maximum number of questions, the seed for choosing them, and the percentage to hold out.
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    /// Maximum number of questions in a set, including held-out questions.
    pub most: usize,
    /// Seed of the choice among the candidates.
    pub seed: u64,
    /// Percentage of the questions that are held out.
    pub held_out: f64,
}

impl Selection {
    /// Returns `true` if the questions with this key are held out. The key is a path or a commit.
    pub(crate) fn is_held_out(&self, key: &str) -> bool {
        (hash(SPLIT, &[key]) % 10_000) as f64 / 100.0 < self.held_out
    }

    /// Chooses at most [`Self::most`] of `items` in pseudorandom order, about the same number from each file. `path`
    /// returns the file of an item, and `key` identifies the item within its file.
    pub(crate) fn choose<T>(&self, items: Vec<T>, path: impl Fn(&T) -> &str, key: impl Fn(&T) -> &str) -> Vec<T> {
        let mut order: Vec<(u64, T)> =
            items.into_iter().map(|item| (hash(self.seed, &[path(&item), key(&item)]), item)).collect();
        order.sort_by_key(|(hash, _)| *hash);
        // The first question of every file, then the second of every file, and so on.
        let mut taken: FxHashMap<String, usize> = FxHashMap::default();
        let mut ranked: Vec<(usize, T)> = Vec::with_capacity(order.len());
        for (_, item) in order {
            let turn = taken.entry(path(&item).to_owned()).or_default();
            *turn += 1;
            ranked.push((*turn, item));
        }
        ranked.sort_by_key(|(turn, _)| *turn);
        ranked.into_iter().take(self.most).map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn about_the_given_percentage_is_held_out() {
        let selection = Selection { most: 10, seed: 1, held_out: 30.0 };
        let held = (0..10_000).filter(|n| selection.is_held_out(&format!("src/file{n}.py"))).count();
        assert!((2_800..3_200).contains(&held), "{held}");
        let none = Selection { held_out: 0.0, ..selection };
        assert!((0..1_000).all(|n| !none.is_held_out(&n.to_string())));
    }

    proptest! {
        #[test]
        fn the_choice_depends_only_on_the_items(files in prop::collection::vec(0..5_u8, 0..40), most in 0..20_usize) {
            let items: Vec<(String, String)> =
                files.iter().enumerate().map(|(at, file)| (format!("{file}.py"), at.to_string())).collect();
            let selection = Selection { most, seed: 3, held_out: 30.0 };
            let choose = |items: Vec<(String, String)>| selection.choose(items, |item| &item.0, |item| &item.1);
            let chosen = choose(items.clone());
            let mut reversed = items.clone();
            reversed.reverse();
            prop_assert_eq!(&choose(reversed), &chosen);
            prop_assert_eq!(chosen.len(), most.min(items.len()));
            // As long as a file has candidates left, no other file has two or more questions more than this file.
            for file in 0..5_u8 {
                let path = format!("{file}.py");
                let taken = chosen.iter().filter(|item| item.0 == path).count();
                let has = items.iter().filter(|item| item.0 == path).count();
                let greatest = (0..5_u8).map(|f| chosen.iter().filter(|item| item.0 == format!("{f}.py")).count()).max();
                prop_assert!(taken == has || taken + 1 >= greatest.unwrap_or(0));
            }
        }
    }
}
