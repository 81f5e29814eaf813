//! Puts descriptors where Chromium looks for them, and keeps every other one from it.
//!
//! The one place of this crate with `unsafe`: `--remote-debugging-pipe` wants exactly 3 and 4, and a descriptor of a given
//! number has no safe type. It runs only in the launcher, which has one thread and exists to become Chromium.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::FdFlags;

/// Where Chromium reads CDP commands with `--remote-debugging-pipe`.
const CDP_COMMANDS: RawFd = 3;
/// Where it writes CDP replies and events.
const CDP_REPLIES: RawFd = 4;
/// The first number that is neither a standard stream nor one of the two above.
pub(super) const FIRST_FREE: RawFd = 5;

/// Marks every descriptor above the standard streams close-on-exec: what a parent leaked into us stays out of Chromium.
pub(super) fn close_all_on_exec() -> io::Result<()> {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    // Collected first: the listing itself holds a descriptor, which is gone by the time that its number comes up.
    let numbers: Vec<RawFd> = std::fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number >= CDP_COMMANDS)
        .collect();
    for number in numbers {
        #[expect(
            unsafe_code,
            reason = "a number from the kernel's list of our descriptors; it is borrowed for one call"
        )]
        // SAFETY: the process has one thread, so nothing closes or reuses the number meanwhile; if it was the listing's
        // own, the call answers EBADF, which is the only error possible and ignored.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC).ok();
    }
    Ok(())
}

/// Makes the two ends of the CDP pipe the descriptors 3 and 4, which the next program inherits.
///
/// `commands` and `replies` must be numbered [`FIRST_FREE`] or higher, so that neither is overwritten by the other.
pub(super) fn place_cdp(commands: &OwnedFd, replies: &OwnedFd) -> io::Result<()> {
    if commands.as_raw_fd() < FIRST_FREE || replies.as_raw_fd() < FIRST_FREE {
        return Err(io::Error::other("the CDP pipe would overwrite itself"));
    }
    place(commands.as_fd(), CDP_COMMANDS)?;
    place(replies.as_fd(), CDP_REPLIES)
}

fn place(from: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    #[expect(unsafe_code, reason = "dup2 to a fixed number is how a program hands descriptors to the next one")]
    // SAFETY: nothing else in this process owns the number: `launcher` keeps what it owns at FIRST_FREE and above. The
    // value is forgotten below, so the number is not closed here.
    let mut target = unsafe { OwnedFd::from_raw_fd(number) };
    let placed = rustix::io::dup2(from, &mut target);
    std::mem::forget(target);
    Ok(placed?)
}
