//! Takes all the memory that it gets.

use transom_guest::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct TakeArgs {
    /// Bytes; all there is unless given
    bytes: Option<u64>,
}

fn take(_: Call, args: TakeArgs) -> Result<Answer> {
    const CHUNK: usize = 64 * 1024;
    let mut taken: Vec<Vec<u8>> = Vec::new();
    while args.bytes.is_none_or(|bytes| ((taken.len() * CHUNK) as u64) < bytes) {
        taken.push(std::hint::black_box(vec![1; CHUNK]));
    }
    Ok(Answer::text(format!("{} bytes", taken.len() * CHUNK)))
}

export_tools! { Tool::read("take", "Takes memory", take) }
