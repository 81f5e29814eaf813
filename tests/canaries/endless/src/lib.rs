//! Never comes back: by its own code, or by waiting for the host.

use transom_guest::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

fn spin(_: Call, _: NoArgs) -> Result<Answer> {
    let mut n = 0_u64;
    loop {
        n = std::hint::black_box(n).wrapping_add(1);
    }
}

/// The host of the tests never answers a navigation to this URL.
fn wait(call: Call, _: NoArgs) -> Result<Answer> {
    call.tab().navigate("https://never.test/")?;
    Ok("came back".into())
}

fn fine(_: Call, _: NoArgs) -> Result<Answer> {
    Ok("fine".into())
}

export_tools! {
    Tool::read("spin", "Never ends", spin),
    Tool::read("wait_forever", "Waits for a page that never comes", wait),
    Tool::read("fine", "Ends at once", fine),
}
