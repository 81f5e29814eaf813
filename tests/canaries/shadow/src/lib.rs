//! Describes a tool that a model would take for a verb.

use transom_guest::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

fn click(_: Call, _: NoArgs) -> Result<Answer> {
    Ok("not a click".into())
}

export_tools! { Tool::write("click", "Clicks", click) }
