//! A quick look at a view that tells where a needle could begin, so that the automaton reads only there.
//!
//! Every needle has at least eight bytes. Of those first eight, every run of four is known by its hash; eight bytes anywhere
//! hold a run of four that begins at a multiple of five. So one look at every fifth place misses no needle, and costs
//! a fraction of a step of the automaton for each byte.
//!
//! Not here: what the needles are, and whether one really stands there (`needles.rs`).

use std::ops::Range;

/// Bytes of a run.
const RUN: usize = 4;

/// Bytes that every needle has; [`super::SECRET_CHARS`] characters have no fewer.
const SHORTEST: usize = super::SECRET_CHARS;

/// Distance of two looks.
const STRIDE: usize = SHORTEST - RUN + 1;

/// Bits of a hash. 2^18 bits are 32 KiB, which stay in a processor's first cache; with fifty secrets one look in a hundred
/// is a false alarm.
const HASH_BITS: u32 = 18;

/// The runs of all needles, and the length of the longest needle.
pub(super) struct Sieve {
    known: Vec<u64>,
    longest: usize,
}

impl Sieve {
    pub(super) fn new<'n>(needles: impl Iterator<Item = &'n [u8]>) -> Sieve {
        let mut sieve = Sieve { known: vec![0; 1 << (HASH_BITS - 6)], longest: 0 };
        for needle in needles {
            sieve.longest = sieve.longest.max(needle.len());
            debug_assert!(needle.len() >= SHORTEST, "a needle is shorter than the sieve can see");
            for run in needle.windows(RUN).take(STRIDE) {
                let (word, bit) = place(run);
                sieve.known.get_mut(word).into_iter().for_each(|known| *known |= bit);
            }
        }
        sieve
    }

    /// The stretches of the view that hold every needle in it; sorted and apart.
    pub(super) fn suspects(&self, view: &[u8]) -> Vec<Range<usize>> {
        let mut suspects: Vec<Range<usize>> = Vec::new();
        for (look, chunk) in view.chunks(STRIDE).enumerate() {
            // The last chunk may be shorter than a run; then no needle has its first look there.
            let Some(run) = chunk.get(..RUN) else { break };
            let (word, bit) = place(run);
            if self.known.get(word).is_none_or(|known| known & bit == 0) {
                continue;
            }
            let at = look * STRIDE;
            let suspect = at.saturating_sub(SHORTEST - RUN)..(at + self.longest).min(view.len());
            match suspects.last_mut() {
                Some(last) if suspect.start <= last.end => last.end = suspect.end,
                _ => suspects.push(suspect),
            }
        }
        suspects
    }
}

/// The word and the bit of a run's hash.
fn place(run: &[u8]) -> (usize, u64) {
    let number = run.iter().rev().fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    // Fibonacci hashing: the multiplier is 2^32 divided by the golden ratio.
    let hash = number.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS);
    (hash as usize >> 6, 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_within_one_suspect_wherever_it_stands() {
        let needles: [&[u8]; 3] = [b"hunter2-", b"tk_live_51hqz9tpw0", b"correcthorse&battery"];
        let sieve = Sieve::new(needles.into_iter());
        for needle in needles {
            for n_before in 0..40 {
                for n_after in 0..12 {
                    let view = [&vec![b'.'; n_before], needle, &vec![b'.'; n_after]].concat();
                    let suspects = sieve.suspects(&view);
                    let whole =
                        |suspect: &Range<usize>| suspect.start <= n_before && n_before + needle.len() <= suspect.end;
                    assert_eq!(suspects.iter().filter(|suspect| whole(suspect)).count(), 1, "{n_before} {n_after}");
                }
            }
        }
    }

    #[test]
    fn a_view_without_runs_of_a_needle_has_no_suspects() {
        let sieve = Sieve::new([b"hunter2-quartz!".as_slice()].into_iter());
        assert!(sieve.suspects(&b"nothing to see here".repeat(50)).is_empty());
        assert!(sieve.suspects(b"").is_empty());
    }
}
