//! What is searched for in a view: for every secret its normal form, its hex and its base64, in one automaton.
//!
//! Spellings that mix (percent signs here, a tag there) can't be listed; the views undo them. Hex and base64 spell the
//! bytes as a whole, so they are listed: base64 at its three alignments inside longer data, in both alphabets, and only the
//! characters that the secret alone determines. They are folded like everything else; that upper and lower case then
//! count alike costs no false hit at these lengths.
//!
//! Not here: how a view is made (`views.rs`).

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use unicode_normalization::UnicodeNormalization;

use super::fold::fold;
use super::sieve::Sieve;
use crate::secret::Secret;

/// Most bytes of needles for which the fastest automaton is built; beyond, its table would grow past tens of megabytes.
const DENSE_BYTES: usize = 64 * 1_024;

/// All needles of a redactor.
pub(super) struct Needles {
    sieve: Sieve,
    automaton: AhoCorasick,
    owners: Vec<Owner>,
}

/// Whose needle it is, and whether the character before or after it holds a few bits of the secret too (base64).
#[derive(Clone, Copy)]
struct Owner {
    secret: usize,
    shares_before: bool,
    shares_after: bool,
}

/// A place in a view where a secret stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) secret: usize,
    pub(super) view: Range<usize>,
}

impl Needles {
    pub(super) fn new(secrets: &[Secret]) -> Result<Needles, BuildError> {
        let mut patterns = Vec::new();
        let mut owners = Vec::new();
        for (index, secret) in secrets.iter().enumerate() {
            for (needle, shares_before, shares_after) in needles_of(secret.value()) {
                patterns.push(needle);
                owners.push(Owner { secret: index, shares_before, shares_after });
            }
        }
        let dense = patterns.iter().map(String::len).sum::<usize>() <= DENSE_BYTES;
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(dense.then_some(AhoCorasickKind::DFA))
            .build(&patterns)?;
        let sieve = Sieve::new(patterns.iter().map(String::as_bytes));
        Ok(Needles { sieve, automaton, owners })
    }

    /// Every place where a secret stands in the view, those that overlap included.
    pub(super) fn hits(&self, view: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        for suspect in self.sieve.suspects(view) {
            let offset = suspect.start;
            let Some(part) = view.get(suspect) else { continue };
            for found in self.automaton.find_overlapping_iter(part) {
                let Some(owner) = self.owners.get(found.pattern().as_usize()) else { continue };
                let (start, end) = (offset + found.start(), offset + found.end());
                let holds_bits =
                    |at: Option<usize>| at.and_then(|at| view.get(at)).is_some_and(|byte| is_base64(*byte));
                let before = owner.shares_before && holds_bits(start.checked_sub(1));
                let after = owner.shares_after && holds_bits(Some(end));
                hits.push(Hit { secret: owner.secret, view: start - usize::from(before)..end + usize::from(after) });
            }
        }
        hits
    }

    /// Whether a secret stands in the view.
    pub(super) fn are_in(&self, view: &[u8]) -> bool {
        let suspects = self.sieve.suspects(view).into_iter();
        suspects.filter_map(|suspect| view.get(suspect)).any(|part| self.automaton.is_match(part))
    }
}

/// The needles of one value, each with whether it shares the character before and after it.
fn needles_of(value: &str) -> Vec<(String, bool, bool)> {
    let mut needles = vec![(fold(value), false, false)];
    let mut add = |needle: (String, bool, bool)| {
        if !needles.contains(&needle) {
            needles.push(needle);
        }
    };
    let in_json = serde_json::to_string(value).unwrap_or_default();
    let spellings =
        [value.to_owned(), value.nfc().collect(), value.nfd().collect(), in_json.trim_matches('"').to_owned()];
    for spelling in spellings {
        add((spelling.bytes().map(|byte| format!("{byte:02x}")).collect(), false, false));
        for n_before in 0..3 {
            let (standard, before, after) = base64_core(spelling.as_bytes(), n_before);
            add((fold(&standard.replace('+', "-").replace('/', "_")), before, after));
            add((fold(&standard), before, after));
        }
    }
    needles
}

/// The characters of base64 that `bytes` alone determine when `n_before` other bytes stand before them, and whether the
/// characters next to these hold some of their bits.
fn base64_core(bytes: &[u8], n_before: usize) -> (String, bool, bool) {
    let mut data = vec![0; n_before];
    data.extend_from_slice(bytes);
    let (first_bit, end_bit) = (8 * n_before, 8 * data.len());
    let core = STANDARD_NO_PAD.encode(&data).get(first_bit.div_ceil(6)..end_bit / 6).unwrap_or_default().to_owned();
    (core, first_bit % 6 != 0, end_bit % 6 != 0)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}
