//! Does what it should, with every interface: the twin of the others, and what is measured.

use transom_guest::{Condition, prelude::*};

#[derive(Deserialize, JsonSchema)]
struct NoArgs {}

/// What a call costs without the host.
fn nothing(_: Call, _: NoArgs) -> Result<Answer> {
    Ok("nothing".into())
}

/// What is measured: three host calls.
fn three(call: Call, _: NoArgs) -> Result<Answer> {
    let tab = call.tab();
    let page = tab.navigate("https://shop.test/orders")?;
    let text = tab.text("#total")?;
    tab.click("#next")?;
    Ok(Answer::text(format!("{}: {text}", page.title)))
}

/// Every function that is a verb, once.
fn all(call: Call, _: NoArgs) -> Result<Answer> {
    let tab = call.tab();
    tab.navigate("https://shop.test/")?;
    tab.back()?;
    tab.forward()?;
    tab.reload()?;
    let n_tabs = transom_guest::tabs()?.len();
    let other = Tab::open(None)?;
    Tab::switch("t1")?;
    tab.wait_for("#go")?;
    tab.wait(&Condition::TextGone("Loading".into()), Some(100))?;
    tab.snapshot()?;
    tab.text("h1")?;
    let image = tab.screenshot()?;
    let clicked = tab.click(Target::by_ref("e1"))?;
    tab.type_text(Target::point(1.0, 2.5), "hello")?;
    tab.answer_dialog(true, Some("yes"))?;
    let title: String = tab.evaluate("document.title")?;
    tab.wait_for_script("true", None)?;
    let file = tab.download("https://shop.test/orders.csv")?;
    tab.upload("#file", &file.id)?;
    tab.type_secret("#password", "password")?;
    other.close()?;
    log::info(format!("{title} in {}", tab.id()));
    let opened = clicked.opened_tab.map(|tab| tab.id()).unwrap_or_default();
    Ok(Answer::text(format!("{title}, {n_tabs} tabs, opened {opened}")).attach(&file).image(&image.file))
}

#[derive(Deserialize, JsonSchema)]
struct SayArgs {
    #[schemars(length(max = 1000))]
    text: String,
    #[schemars(range(min = 1, max = 3))]
    times: Option<u8>,
}

#[derive(Serialize, JsonSchema)]
struct Said {
    text: String,
    times: u8,
}

fn say(call: Call, args: SayArgs) -> Result<Answer> {
    let times = args.times.unwrap_or(1);
    let content = vec![args.text.as_str(); times.into()].join(" ");
    let memory = format!("{} with {} ms left", call.tool(), call.time_left().as_millis());
    Answer::text(content).memory(memory).structured(&Said { text: args.text, times })?.metadata(&json!({"version": 1}))
}

#[derive(Deserialize, JsonSchema)]
struct FailArgs {
    invalid: bool,
}

fn fail(_: Call, args: FailArgs) -> Result<Answer> {
    if args.invalid {
        return Err(Error::invalid("`invalid` should not be true").hint("call with false"));
    }
    let n: u32 = "no number".parse()?;
    Ok(Answer::text(n.to_string()))
}

fn done(_: Call, _: NoArgs) -> Result<Answer> {
    Ok(Answer::text("all done").done(true))
}

/// Declares a schema and gives something else.
fn lie(_: Call, _: NoArgs) -> Result<Answer> {
    Answer::text("lies").structured(&json!({"text": 1}))
}

export_tools! {
    Tool::read("nothing", "Does nothing", nothing),
    Tool::write("three", "Makes three host calls", three),
    Tool::write("all", "Calls everything once", all),
    Tool::read("say", "Says it", say).gives::<Said>(),
    Tool::read("fail", "Fails", fail),
    Tool::read("finish", "Is done", done).ends_sequence().only_on(&["shop.test"]),
    Tool::read("lie", "Gives what it did not declare", lie).gives::<Said>(),
}
