//! What the allocator keeps of memory that was freed, and what it reserves.

/// Whether this process has a limit of address space (`ulimit -v`). glibc reserves 64 MiB of it for each thread.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn is_address_space_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes to `limit`, which lives until it returns.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    known && limit.rlim_cur != libc::RLIM_INFINITY
}

/// Lets large blocks of memory go back to the system as soon as they are freed; to be called before a run begins.
///
/// glibc raises the size from which it does so with every large block that is freed, and then keeps them in heaps of
/// each thread: an index run on 380,000 chunks held 391 MiB instead of 250, in the same time. Does nothing elsewhere.
pub fn give_back_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const LARGE: libc::c_int = 64 << 10;
        // SAFETY: the call sets a number in the allocator, under its lock.
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
        if is_address_space_limited() {
            // SAFETY: the same.
            unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
        }
    }
}
