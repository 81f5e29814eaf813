//! From hits to a text without them: the union of all hits goes, each stretch under the name of one secret.
//!
//! Hits that overlap are one stretch, named after the secret that begins first (of those, the longest). Hits that only
//! touch stay two, so that each name is told.
//!
//! Not here: how hits are found.

use std::ops::Range;

/// A stretch of a text, and the index of the secret in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) source: Range<usize>,
    pub(super) secret: usize,
}

/// Joins spans that overlap; the result is sorted and apart.
pub(super) fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| (span.source.start, std::cmp::Reverse(span.source.end), span.secret));
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.source.start < last.source.end => {
                last.source.end = last.source.end.max(span.source.end);
            }
            _ => joined.push(span),
        }
    }
    joined
}

/// The text with every span (sorted, apart) replaced by what stands in for its secret.
pub(super) fn replace(text: &str, spans: &[Span], stand_ins: &[String]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        result.push_str(text.get(from..span.source.start).unwrap_or_default());
        result.push_str(stand_ins.get(span.secret).map(String::as_str).unwrap_or_default());
        from = span.source.end;
    }
    result.push_str(text.get(from..).unwrap_or_default());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(source: Range<usize>, secret: usize) -> Span {
        Span { source, secret }
    }

    #[test]
    fn overlapping_spans_are_joined_and_touching_ones_are_not() {
        let joined = union(vec![span(8..12, 1), span(0..5, 0), span(3..8, 1), span(0..4, 2)]);
        assert_eq!(joined, [span(0..8, 0), span(8..12, 1)]);
        let stand_ins = ["[a]".to_owned(), "[b]".to_owned()];
        assert_eq!(replace("01234567abcdEF", &joined, &stand_ins), "[a][b]EF");
    }
}
