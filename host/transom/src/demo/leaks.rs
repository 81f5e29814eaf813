//! Looks for the password where it must not be.
//!
//! Files are searched as the bytes that they are, so that SQLite's log, a file that nobody thought of and a profile that was left
//! behind are found too. The password's letters and digits stay as they are in percent-encoding and JSON; base64 is searched for
//! at its three alignments.
//!
//! Not here: what redaction does in general (`transom-policy`).

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD_NO_PAD};

/// What is looked for.
#[derive(Debug)]
pub(super) struct Needles(Vec<Vec<u8>>);

impl Needles {
    /// The forms in which `secret` may stand somewhere.
    pub(super) fn of(secret: &str) -> Needles {
        let mut needles = vec![secret.as_bytes().to_vec()];
        for shift in 0..3_usize {
            let shifted: Vec<u8> = std::iter::repeat_n(0, shift).chain(secret.bytes()).collect();
            let encoded = BASE64_STANDARD_NO_PAD.encode(&shifted);
            // Only the characters that the secret alone determines: those of neighbouring bytes are cut at both ends.
            let from = (shift * 8).div_ceil(6);
            let to = shifted.len() * 8 / 6;
            needles.extend(encoded.as_bytes().get(from..to).map(<[u8]>::to_vec));
        }
        Needles(needles)
    }

    /// Whether any form stands in these bytes.
    pub(super) fn are_in(&self, bytes: &[u8]) -> bool {
        self.0.iter().any(|needle| bytes.windows(needle.len()).any(|window| window == needle))
    }
}

/// What a search of a folder found.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Files that were read.
    pub(super) n_files: usize,
    /// Those in which something was found.
    pub(super) found: Vec<PathBuf>,
}

/// Searches every file below `folder`. Links are not followed; what is no ordinary file is passed over.
pub(super) fn search(folder: &Path, needles: &Needles) -> io::Result<Search> {
    let mut search = Search::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                search.n_files += 1;
                if needles.are_in(&fs::read(entry.path())?) {
                    search.found.push(entry.path());
                }
            }
        }
    }
    Ok(search)
}

#[cfg(test)]
mod tests {
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    #[test]
    fn a_secret_is_found_as_it_is_and_inside_base64_at_any_place() {
        let needles = Needles::of("k7mqz4wtvn2p");
        assert!(needles.are_in(b"pass=k7mqz4wtvn2p&x"));
        for before in ["", "a", "ab", "abc"] {
            for after in ["", "z", "zz"] {
                let encoded = BASE64_STANDARD.encode(format!("{before}k7mqz4wtvn2p{after}"));
                assert!(needles.are_in(encoded.as_bytes()), "{before}|{after}");
            }
        }
        assert!(!needles.are_in(b"k7mqz4wtvn2"));
        assert!(!needles.are_in(b""));
    }

    #[test]
    fn every_file_below_a_folder_is_searched() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::write(folder.path().join("a/b/leak"), "…secretsecret…").unwrap();
        fs::write(folder.path().join("clean"), "nothing").unwrap();
        let search = search(folder.path(), &Needles::of("secretsecret")).unwrap();
        assert_eq!(search.n_files, 2);
        assert_eq!(search.found, [folder.path().join("a/b/leak")]);
    }
}
