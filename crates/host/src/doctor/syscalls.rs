//! Calls that tell whether the kernel lets this process do asynchronous I/O.
#![allow(
    unsafe_code,
    reason = "io_uring_setup(2) and io_setup(2) have no safe wrapper among this crate's libraries"
)]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Sets up an io_uring of one entry and closes it.
pub(super) fn try_io_uring() -> io::Result<()> {
    // struct io_uring_params is 120 bytes of integers (io_uring_setup(2)); all zero asks for nothing special.
    let mut params = [0_u64; 15];
    // SAFETY: the kernel reads and writes 120 bytes at the pointer, which is what `params` holds, and keeps no
    // reference to it after the call.
    let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1_u32, params.as_mut_ptr()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    let fd = i32::try_from(fd).map_err(io::Error::other)?;
    // SAFETY: the call just returned this descriptor to us, so nobody else owns it.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    Ok(())
}

/// Sets up a libaio context of one event and destroys it.
pub(super) fn try_libaio() -> io::Result<()> {
    let mut context: libc::c_ulong = 0;
    // SAFETY: the kernel writes one aio_context_t (an unsigned long) to the pointer; it must be 0 before.
    if unsafe { libc::syscall(libc::SYS_io_setup, 1_u32, &raw mut context) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the context was made above and has no I/O in it.
    unsafe { libc::syscall(libc::SYS_io_destroy, context) };
    Ok(())
}
