//! Says too much: in its result, to the host, to its log, in handles.

use transom_guest::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct SizeArgs {
    /// Bytes, lines or handles
    n: usize,
}

fn result(_: Call, args: SizeArgs) -> Result<Answer> {
    Ok(Answer::text("x".repeat(args.n)))
}

fn argument(call: Call, args: SizeArgs) -> Result<Answer> {
    call.tab().type_text("#field", &"x".repeat(args.n))?;
    Ok("typed".into())
}

fn lines(_: Call, args: SizeArgs) -> Result<Answer> {
    for n in 0..args.n {
        log::info(format!("line {n}"));
    }
    Ok("logged".into())
}

fn handles(call: Call, args: SizeArgs) -> Result<Answer> {
    let held: Vec<Tab> = (0..args.n).map(|_| call.tab()).collect();
    Ok(Answer::text(format!("{} handles", held.len())))
}

/// As many handles, but one after the other.
fn handles_in_turn(call: Call, args: SizeArgs) -> Result<Answer> {
    let given = (0..args.n).filter(|_| call.tab().id() == "t1").count();
    Ok(Answer::text(format!("{given} handles")))
}

export_tools! {
    Tool::read("result", "A long result", result),
    Tool::read("argument", "A long argument", argument),
    Tool::read("lines", "Many log lines", lines),
    Tool::read("handles", "Many handles at once", handles),
    Tool::read("handles_in_turn", "Many handles one after the other", handles_in_turn),
}
