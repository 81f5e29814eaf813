//! Imports more than its manifest asks for.

use transom_guest::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

fn cookies(call: Call, _: NoArgs) -> Result<Answer> {
    let tab = call.tab();
    let title = tab.text("h1")?;
    let cookies: String = tab.evaluate("document.cookie")?;
    Ok(Answer::text(format!("{title}: {cookies}")))
}

export_tools! { Tool::read("cookies", "Reads cookies", cookies) }
