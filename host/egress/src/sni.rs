//! Which server a TLS client asks for: the server name of the first message, read without taking part in TLS.
//!
//! The bytes are those of a stranger and may arrive in any pieces: split over records, records over segments. What is
//! ambiguous is malformed: a second server-name extension, a second name, or anything left over after a field that says
//! its own length. A reader that guesses where servers guess otherwise could be shown one name and the server another.
//!
//! Not here: whether that name may be reached (`gate`), reading from a connection (`proxy`).

use tls_parser::parse_tls_handshake_client_hello;

/// The most bytes that are read before a server name is found. A ClientHello with post-quantum key shares has about 2 KiB;
/// what needs more than this is not a browser.
pub(crate) const CLIENT_HELLO_MAX: usize = 16 * 1024;

/// A record's type for handshake messages.
const HANDSHAKE: u8 = 22;
/// A handshake message's type for ClientHello.
const CLIENT_HELLO: u8 = 1;
/// An extension's type for the server name.
const SERVER_NAME: u16 = 0;
/// A server name's type for host names, the only one there is.
const HOST_NAME: u8 = 0;

/// What the first bytes of a connection are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FirstBytes {
    /// Too few to tell.
    Incomplete,
    /// Not TLS.
    NotTls,
    /// It begins like TLS and is not a ClientHello that can be read in one way only.
    Malformed,
    /// A whole ClientHello, with the server name that it asks for.
    ClientHello {
        /// `None`: it has none, as for an IP address.
        server_name: Option<String>,
    },
}

/// Reads the first bytes of a connection, as many as there are.
pub(crate) fn read_first_bytes(bytes: &[u8]) -> FirstBytes {
    match bytes.first() {
        None => return FirstBytes::Incomplete,
        Some(&HANDSHAKE) => {}
        Some(_) => return FirstBytes::NotTls,
    }
    let mut handshake = Vec::new();
    let mut rest = bytes;
    loop {
        if let Some(message) = whole_message(&handshake) {
            return message.map_or(FirstBytes::Malformed, client_hello);
        }
        let Some((header, after)) = rest.split_first_chunk::<5>() else { return incomplete(bytes) };
        let [record_type, major, _, length @ ..] = *header;
        let length = usize::from(u16::from_be_bytes(length));
        // An empty handshake record is forbidden, and could be sent for ever.
        if record_type != HANDSHAKE || major != 3 || length == 0 {
            return FirstBytes::Malformed;
        }
        let (fragment, after) = after.split_at_checked(length).unwrap_or((after, &[]));
        handshake.extend_from_slice(fragment);
        if fragment.len() < length && whole_message(&handshake).is_none() {
            return incomplete(bytes);
        }
        rest = after;
    }
}

fn incomplete(bytes: &[u8]) -> FirstBytes {
    if bytes.len() < CLIENT_HELLO_MAX { FirstBytes::Incomplete } else { FirstBytes::Malformed }
}

/// The body of the first handshake message once all of it is there; an inner `None` if it is no ClientHello.
fn whole_message(handshake: &[u8]) -> Option<Option<&[u8]>> {
    let (header, body) = handshake.split_first_chunk::<4>()?;
    let [message_type, length @ ..] = *header;
    let [high, middle, low] = length;
    let length = usize::try_from(u32::from_be_bytes([0, high, middle, low])).ok()?;
    if message_type != CLIENT_HELLO || length > CLIENT_HELLO_MAX {
        return Some(None);
    }
    // Nothing may follow in the same flight: a client says no more until the server has answered.
    body.get(..length).map(Some)
}

fn client_hello(body: &[u8]) -> FirstBytes {
    let Ok(([], hello)) = parse_tls_handshake_client_hello(body) else { return FirstBytes::Malformed };
    match server_name(hello.ext.unwrap_or_default()) {
        Some(server_name) => FirstBytes::ClientHello { server_name },
        None => FirstBytes::Malformed,
    }
}

/// The one server name among the extensions, or an inner `None` without one; `None` if they can't be read in one way only.
fn server_name(mut extensions: &[u8]) -> Option<Option<String>> {
    let mut found = None;
    while !extensions.is_empty() {
        let (kind, after) = take_u16(extensions)?;
        let (length, after) = take_u16(after)?;
        let (content, after) = after.split_at_checked(usize::from(length))?;
        extensions = after;
        if kind == SERVER_NAME {
            let (list_length, list) = take_u16(content)?;
            let (&HOST_NAME, name) = list.split_first()? else { return None };
            let (name_length, name) = take_u16(name)?;
            let is_whole = usize::from(list_length) == list.len() && usize::from(name_length) == name.len();
            let name = std::str::from_utf8(name).ok().filter(|name| name.is_ascii() && !name.is_empty())?;
            if !is_whole || found.replace(name.to_owned()).is_some() {
                return None;
            }
        }
    }
    Some(found)
}

fn take_u16(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<2>()?;
    Some((u16::from_be_bytes(*number), rest))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A ClientHello in one record, with these extensions.
    fn hello_with(extensions: &[u8]) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.extend([0, 0, 2, 0x13, 0x01, 1, 0]);
        body.extend(u16::try_from(extensions.len()).unwrap().to_be_bytes());
        body.extend(extensions);
        let mut message = vec![CLIENT_HELLO];
        message.extend(&u32::try_from(body.len()).unwrap().to_be_bytes()[1..]);
        message.extend(body);
        records(&message, message.len())
    }

    fn records(message: &[u8], size: usize) -> Vec<u8> {
        let record = |fragment: &[u8]| {
            let mut record = vec![HANDSHAKE, 3, 1];
            record.extend(u16::try_from(fragment.len()).unwrap().to_be_bytes());
            record.extend(fragment);
            record
        };
        message.chunks(size).flat_map(record).collect()
    }

    fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap();
        [&kind.to_be_bytes()[..], &length.to_be_bytes(), content].concat()
    }

    fn name(name: &str) -> Vec<u8> {
        let length = u16::try_from(name.len()).unwrap();
        let entry = [&[HOST_NAME][..], &length.to_be_bytes(), name.as_bytes()].concat();
        let list = u16::try_from(entry.len()).unwrap();
        extension(SERVER_NAME, &[&list.to_be_bytes()[..], &entry].concat())
    }

    fn hello(server_name: &str) -> Vec<u8> {
        hello_with(&[extension(0x0a0a, &[]), name(server_name), extension(43, &[2, 3, 4])].concat())
    }

    fn found(server_name: &str) -> FirstBytes {
        FirstBytes::ClientHello { server_name: Some(server_name.to_owned()) }
    }

    #[test]
    fn a_server_name_is_found_however_the_bytes_are_cut() {
        let whole = hello("shop.test");
        assert_eq!(read_first_bytes(&whole), found("shop.test"));
        for end in 0..whole.len() {
            assert_eq!(read_first_bytes(&whole[..end]), FirstBytes::Incomplete, "{end} of {} bytes", whole.len());
        }
        for size in [1, 2, 3, 7, 50] {
            assert_eq!(read_first_bytes(&records(&whole[5..], size)), found("shop.test"), "records of {size} bytes");
        }
    }

    #[test]
    fn a_hello_without_a_name_is_a_hello() {
        assert_eq!(read_first_bytes(&hello_with(&[])), FirstBytes::ClientHello { server_name: None });
        let other = extension(43, &[2, 3, 4]);
        assert_eq!(read_first_bytes(&hello_with(&other)), FirstBytes::ClientHello { server_name: None });
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_malformed() {
        let two_names = extension(SERVER_NAME, &[0, 8, 0, 0, 1, b'a', 0, 0, 1, b'b']);
        let short_list = extension(SERVER_NAME, &[0, 4, 0, 0, 1, b'a', b'b']);
        let other_type = extension(SERVER_NAME, &[0, 4, 1, 0, 1, b'a']);
        let not_ascii = extension(SERVER_NAME, &[0, 5, 0, 0, 2, 0xc3, 0xa4]);
        let twice = [name("a.test"), name("b.test")].concat();
        let cut = name("a.test")[..8].to_vec();
        for extensions in [two_names, short_list, other_type, not_ascii, twice, cut, name("")] {
            assert_eq!(read_first_bytes(&hello_with(&extensions)), FirstBytes::Malformed, "{extensions:?}");
        }
        let mut server_hello = hello("a.test");
        server_hello[5] = 2;
        assert_eq!(read_first_bytes(&server_hello), FirstBytes::Malformed);
        assert_eq!(read_first_bytes(&[HANDSHAKE, 3, 1, 0, 0]), FirstBytes::Malformed, "an empty record");
        assert_eq!(read_first_bytes(&[HANDSHAKE, 2, 0, 0, 9]), FirstBytes::Malformed, "a version that never was");
    }

    #[test]
    fn what_is_not_tls_is_told_by_its_first_byte() {
        assert_eq!(read_first_bytes(b"GET / HTTP/1.1\r\n"), FirstBytes::NotTls);
        assert_eq!(read_first_bytes(b"SSH-2.0"), FirstBytes::NotTls);
        assert_eq!(read_first_bytes(b""), FirstBytes::Incomplete);
    }

    #[test]
    fn a_hello_that_never_ends_is_malformed_at_the_cap() {
        let mut endless = vec![HANDSHAKE, 3, 1, 0x40, 0, CLIENT_HELLO, 0, 0x3f, 0xff];
        endless.resize(CLIENT_HELLO_MAX - 1, 0);
        assert_eq!(read_first_bytes(&endless), FirstBytes::Incomplete);
        endless.push(0);
        assert_eq!(read_first_bytes(&endless), FirstBytes::Malformed);
        let mut too_long = hello("a.test");
        too_long[6] = 1;
        assert_eq!(read_first_bytes(&too_long), FirstBytes::Malformed, "it says that it is over 64 KiB long");
    }
}
