//! What the allocator keeps of memory that was freed.

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
    }
}
