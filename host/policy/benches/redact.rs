//! How fast texts pass a redactor with 50 secrets, as a share of one plain `aho-corasick` pass over the same bytes.
//!
//! `cargo bench -p transom-policy`. Trust the ratio, not the figure. The bar is 0.2.

use std::hint::black_box;
use std::time::Instant;

use aho_corasick::AhoCorasick;
use transom_policy::redact::{Redactor, Secret};

/// Rounds of which the fastest counts.
const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Unlike each other in every character, as generated passwords are: a byte that all share would let the plain pass
    // skip from one to the next.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next_char = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'!' + u8::try_from(state % 94).unwrap_or_default())
    };
    let values: Vec<String> = (0..50).map(|_| (0..16).map(|_| next_char()).collect()).collect();
    let named = values.iter().zip(0..).map(|(value, n)| Secret::new(&format!("n{n}"), value.as_str()));
    let redactor = Redactor::new(named.collect::<Result<Vec<_>, _>>()?)?;
    let plain = AhoCorasick::new(&values)?;

    let snapshot = "- listitem\n  - link \"Order 5521, 3 items\" [ref=e12]: /orders/5521\n  - text \"total 41.90, sent on Tuesday\"\n";
    let html = "<tr class=\"row\"><td><a href=\"/orders/5521?from=list&amp;page=2\">Order 5521</a></td><td>41.90 &euro;</td></tr>\n";
    let json = "{\"id\":5521,\"note\":\"a quiet \\u00e4 \\\"morning\\\"\\n\",\"url\":\"https://shop.test/a%20b?x=1+2\",\"items\":[1,2,3]}\n";
    let log = "12:00:01 GET /static/app.js 200 in 14 ms, cache miss for item 88, user opened the menu\n";
    for (name, line) in [("snapshot", snapshot), ("html", html), ("json", json), ("log", log)] {
        let text = line.repeat(1_000_000 / line.len());
        let megabytes = text.len() as f64 / 1e6;
        let ours = fastest(|| black_box(redactor.cow(black_box(&text))).get().len());
        let theirs = fastest(|| plain.find_iter(black_box(text.as_str())).count());
        println!(
            "{name:10} redactor {:7.1} MB/s   plain aho-corasick {:7.1} MB/s   ratio {:.3}",
            megabytes / ours,
            megabytes / theirs,
            theirs / ours
        );
    }
    Ok(())
}

/// Seconds of the fastest round.
fn fastest(mut work: impl FnMut() -> usize) -> f64 {
    let round = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}
