//! Adds to search results the tags that users have given to chunks of code.

use crate::filter::unreadable_tags_note;
use crate::present::Hit;
use crate::searcher::Searcher;

/// Adds to each hit the tags that users have given to its chunk. Adds a note for each searcher whose tags cannot be
/// read.
pub(crate) fn add_tags(searchers: &[&Searcher], hits: &mut [Hit], notes: &mut Vec<String>) {
    for (place, searcher) in searchers.iter().enumerate() {
        let Some(annotations) = &searcher.annotations else { continue };
        let mut of_root: Vec<&mut Hit> = hits.iter_mut().filter(|hit| hit.root_place == place).collect();
        let keys: Vec<&str> = of_root.iter().map(|hit| hit.key.as_str()).collect();
        match annotations.get_many(&keys) {
            Ok(found) => {
                for (hit, governance) in of_root.iter_mut().zip(found) {
                    hit.governance = governance.or(hit.governance.take());
                }
            }
            Err(error) => {
                let note = unreadable_tags_note(&error);
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
    }
}
