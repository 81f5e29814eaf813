//! What host and launcher say to each other over the control socket, one byte and some descriptors at a time.
//!
//! | from | message | descriptors |
//! |---|---|---|
//! | host | `D` | what Chromium reads CDP from, what it writes CDP to |
//! | launcher | `R` | the *verdict* socket; in a jail, the proxy's listener after it |
//! | launcher | anything else | none: it is the beginning of a text that says why there is no Chromium |
//!
//! The verdict socket closes when Chromium is executed: end of file means that it was, a text says why not. The control
//! socket can't say so, since bubblewrap's own processes hold it open.
//!
//! Descriptors are received close-on-exec, so that no other child that the host spawns meanwhile can inherit them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

pub(super) const DESCRIPTORS: u8 = b'D';
pub(super) const READY: u8 = b'R';

/// The most descriptors in one message, in either direction.
const DESCRIPTORS_MAX: usize = 2;

/// Sends one tag with its descriptors.
pub(super) fn send(socket: &UnixStream, tag: u8, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    // Without NOSIGNAL a peer that died would end the host by SIGPIPE wherever that signal is not ignored.
    match sendmsg(socket, &[IoSlice::new(&[tag])], &mut control, SendFlags::NOSIGNAL)? {
        1 => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Receives one tag with its descriptors; `None` at end of file. Waits as long as the socket's read timeout.
pub(super) fn receive(socket: &UnixStream) -> io::Result<Option<(u8, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut tag = [0_u8];
    let received = loop {
        let mut buffers = [IoSliceMut::new(&mut tag)];
        match recvmsg(socket, &mut buffers, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            received => break received?,
        }
    };
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    let [tag] = tag;
    Ok(Some((tag, descriptors)))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn descriptors_arrive_with_their_tag_and_work() {
        let (host, launcher) = UnixStream::pair().unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        send(&host, DESCRIPTORS, &[writer.as_fd(), reader.as_fd()]).unwrap();
        drop(writer);
        let (tag, mut descriptors) = receive(&launcher).unwrap().unwrap();
        assert_eq!((tag, descriptors.len()), (DESCRIPTORS, 2));
        let mut writer = std::io::PipeWriter::from(descriptors.remove(0));
        writer.write_all(b"through").unwrap();
        drop((writer, descriptors));
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn a_closed_peer_is_end_of_file_to_read_and_an_error_to_write() {
        let (host, launcher) = UnixStream::pair().unwrap();
        drop(launcher);
        assert!(receive(&host).unwrap().is_none());
        assert!(send(&host, READY, &[]).is_err());
    }
}
