//! Breaks off: by a panic, by its stack, by a handle that it was never given.

use transom_guest::{bindings::transom::plugin::types, prelude::*};

#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

fn panic(_: Call, _: NoArgs) -> Result<Answer> {
    panic!("on purpose")
}

#[derive(Deserialize, JsonSchema)]
struct DepthArgs {
    depth: u64,
}

/// Not a loop in disguise, and without a frame in memory: it is the host's stack that it uses up.
#[inline(never)]
fn deeper(depth: u64) -> u64 {
    if depth == 0 { 1 } else { deeper(depth - 1).rotate_left(5).wrapping_add(depth) }
}

fn recurse(_: Call, args: DepthArgs) -> Result<Answer> {
    std::hint::black_box(deeper(args.depth));
    Ok(Answer::text(format!("{} deep", args.depth)))
}

/// A number where a handle belongs: guests know handles by number, and this one has none of this number.
fn forge_handle(_: Call, _: NoArgs) -> Result<Answer> {
    // SAFETY: none is needed; a handle is a number, and the host checks it.
    let forged = unsafe { types::Tab::from_handle(7_777) };
    Ok(Answer::text(forged.id()))
}

fn after_navigating(call: Call, _: NoArgs) -> Result<Answer> {
    call.tab().navigate("https://shop.test/")?;
    panic!("on purpose, with work done")
}

fn fine(_: Call, _: NoArgs) -> Result<Answer> {
    Ok("fine".into())
}

export_tools! {
    Tool::read("panic", "Panics", panic),
    Tool::read("recurse", "Recurses", recurse),
    Tool::read("forge_handle", "Uses a handle that it has not", forge_handle),
    Tool::read("after_navigating", "Panics after a navigation", after_navigating),
    Tool::read("fine", "Ends at once", fine),
}
