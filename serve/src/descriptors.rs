//! Limits the number of connections to the available file descriptors.

use aurora_confined::raise_open_file_limit;

/// Number of descriptors reserved for other uses: files, the listener, memories.
const RESERVED: u64 = 256;

/// Number of descriptors of an open index.
const PER_INDEX: u64 = 5;

/// Returns the number of connections that may be open at the same time, at most `wanted`, while `indexes` indexes are
/// open. Raises the soft limit of the process if necessary and possible.
pub(crate) fn connection_limit(wanted: usize, indexes: usize) -> usize {
    let reserved = RESERVED.saturating_add(PER_INDEX.saturating_mul(indexes as u64));
    let allowed = raise_open_file_limit((wanted as u64).saturating_add(reserved));
    fitting(wanted, allowed, reserved)
}

/// Returns the number of connections for `allowed` descriptors. If too few are allowed, connections get a quarter of
/// them, but other uses never get less than [`RESERVED`].
fn fitting(wanted: usize, allowed: u64, reserved: u64) -> usize {
    let reserved = reserved.min(allowed - allowed / 4).max(RESERVED);
    wanted.min(usize::try_from(allowed.saturating_sub(reserved).max(1)).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_and_connections_share_the_descriptors() {
        let reserved = RESERVED + 100 * PER_INDEX;
        assert_eq!(fitting(256, 65_536, reserved), 256);
        assert_eq!(fitting(1_024, 1_024, reserved), 268);
        assert_eq!(fitting(1_024, 700, reserved), 175);
        assert_eq!(fitting(256, 300, reserved), 44, "other uses need their descriptors");
        assert_eq!(fitting(256, 100, RESERVED), 1);
    }
}
