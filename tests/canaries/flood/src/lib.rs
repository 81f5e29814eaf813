//! Calls the host without end.

use transom_guest::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct FloodArgs {
    /// Calls; without end unless given
    n: Option<u32>,
}

fn flood(_: Call, args: FloodArgs) -> Result<Answer> {
    let mut n = 0;
    while args.n.is_none_or(|most| n < most) {
        transom_guest::tabs()?;
        n += 1;
    }
    Ok(Answer::text(format!("{n} calls")))
}

export_tools! { Tool::read("flood", "Lists the tabs again and again", flood) }
