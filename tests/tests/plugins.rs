//! Components in the whole house: a plugin does its work under its own narrow grants, and a hostile one meets each limit, while the run and
//! its browser go on.

use anyhow::ensure;
use serde_json::json;
use transom::demo::shop::Shop;
use transom_tests::{
    site::{Page, Site},
    world::{Spec, World},
};
use transom_verbs::{ErrorCode, Reason};

fn canary(name: &str, verbs: &str, secrets: &str) -> String {
    format!(
        "\n[[binding.plugin]]\nmanifest = \"tests/canaries/{name}/plugin.toml\"\nverbs = [{verbs}]\nsecrets = [{secrets}]\n"
    )
}

async fn shop() -> anyhow::Result<Site> {
    Site::start([(
        "/",
        Page::html(
            "<title>Shop</title><button id=buy onclick='bought++'>Buy</button><input id=password type=password><input id=note>
             <script>bought = 0</script>",
        ),
    )])
    .await
}

async fn goes_on(world: &World) -> anyhow::Result<()> {
    let page = world.call("shop.navigate", json!({"url": "http://shop.localhost/"})).await?;
    ensure!(page["title"] == "Shop", "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_limit_ends_the_call_and_nothing_else() -> anyhow::Result<()> {
    let shop = shop().await?;
    let plugins = [
        canary("endless", "\"navigate\"", ""),
        canary("memory", "", ""),
        canary("huge", "\"type\"", ""),
        canary("flood", "\"tabs\"", ""),
        canary("trap", "\"navigate\"", ""),
    ];
    let world = Spec::shop(&shop).with(&plugins.concat()).start().await?;
    shop.set("/never", Page::never());
    goes_on(&world).await?;
    for (tool, arguments, reason) in [
        ("shop.endless_spin", json!({}), Reason::PluginLimit),
        ("shop.memory_take", json!({}), Reason::PluginLimit),
        ("shop.huge_result", json!({"n": 50_000_000}), Reason::PluginLimit),
        ("shop.flood_flood", json!({}), Reason::PluginLimit),
        ("shop.trap_panic", json!({}), Reason::PluginTrap),
        ("shop.trap_forge_handle", json!({}), Reason::PluginTrap),
    ] {
        let error = world.call_fails(tool, arguments).await?;
        ensure!(error.reason == Some(reason), "{tool}: {error:?}");
        ensure!(!error.message.contains("backtrace") && !error.message.contains('\n'), "{tool}: {error:?}");
        goes_on(&world).await?;
    }
    // The twins within the limits.
    for (tool, arguments) in [
        ("shop.endless_fine", json!({})),
        ("shop.memory_take", json!({"bytes": 1 << 20})),
        ("shop.huge_result", json!({"n": 1_000})),
        ("shop.trap_fine", json!({})),
    ] {
        world.call(tool, arguments).await?;
    }
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_binding_does_not_grant_is_refused_with_the_line_to_add_and_the_plugin_goes_on() -> anyhow::Result<()>
{
    let shop = shop().await?;
    let world = Spec::shop(&shop)
        .secret("pw", "k9-Vellum-ash-42")
        .secret("other", "another-secret-1")
        .with("evaluate_with_secrets = true")
        .with(&canary("ungranted", "\"type\"", "\"pw\""))
        .start()
        .await?;
    goes_on(&world).await?;
    let error = world.call_fails("shop.ungranted_buy", json!({})).await?;
    ensure!(error.code == ErrorCode::NotGranted, "{error:?}");
    let hint = error.hint.clone().unwrap_or_default();
    ensure!(hint.contains("click") && hint.contains("verbs") && hint.contains("ungranted"), "{error:?}");
    let result = world.call("shop.ungranted_click_and_go_on", json!({})).await?;
    ensure!(result.to_string().contains("went on after computer_use_not_granted"), "{result}");

    // The secret that it was granted is typed and not read; another one and the placeholder in `type` are refused.
    world.call("shop.ungranted_type_secret", json!({"name": "pw"})).await?;
    let error = world.call_fails("shop.ungranted_type_secret", json!({"name": "other"})).await?;
    ensure!(error.code == ErrorCode::NotGranted && error.message.contains("other"), "{error:?}");
    let typed = world.call("shop.evaluate", json!({"script": "[password.value.length, note.value, bought]"})).await?;
    ensure!(typed["value"] == json!([16, "", 0]), "{typed}");

    // An error that a plugin makes up does not pass as the host's.
    let error = world.call_fails("shop.ungranted_forge", json!({})).await?;
    ensure!(error.code == ErrorCode::Failed && error.reason == Some(Reason::Plugin), "{error:?}");
    let journal = world.journal_text().await?;
    ensure!(journal.contains("plugin ungranted") && journal.contains("refusal"), "{journal}");
    ensure!(!journal.contains("k9-Vellum-ash-42") && !journal.contains("another-secret-1"), "a secret in the journal");
    world.end().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_component_that_is_not_what_its_binding_says_is_refused_at_load() -> anyhow::Result<()> {
    let shop = shop().await?;
    for (plugin, holds) in [
        // It imports more than its manifest says.
        (canary("greedy", "", ""), vec!["plugin.toml", "interfaces"]),
        // Its tool is named like a verb.
        (canary("shadow", "", ""), vec!["shadow"]),
        // The binding grants more than the manifest asks for.
        (canary("ungranted", "\"evaluate\"", ""), vec!["evaluate", "verbs"]),
        // The binding lists a secret that it does not have.
        (canary("ungranted", "\"type\"", "\"nope\""), vec!["nope"]),
    ] {
        match Spec::shop(&shop).with(&plugin).start().await {
            Ok(_) => anyhow::bail!("{plugin} was taken"),
            Err(error) => {
                let said = format!("{error:#}");
                ensure!(holds.iter().all(|each| said.contains(each)), "{plugin}: {said}");
                ensure!(said.lines().count() <= 2, "one line: {said}");
            }
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_holds_only_the_tool_gets_all_orders_and_no_verb() -> anyhow::Result<()> {
    let shop = Shop::start().await?;
    let grant = "\n[[binding.plugin]]\nmanifest = \"plugins/orders/plugin.toml\"\nverbs = [\"tabs\", \"navigate\", \"extract\", \"click\", \"type\"]\nsecrets = [\"password\"]\n";
    let world = Spec::of("shop.localhost", shop.addr())
        .secret("password", shop.password())
        .with(grant)
        .grants(&["shop.orders_list"])
        .start()
        .await?;
    let result = world.call("shop.orders_list", json!({"email": "robin@shop.localhost"})).await?;
    let orders = result["structured"]["orders"].as_array().map(Vec::len);
    ensure!(orders == Some(24), "{result}");
    for verb in ["click", "navigate", "extract"] {
        let error = world.call_fails(&format!("shop.{verb}"), json!({"selector": "a"})).await?;
        ensure!(error.code == ErrorCode::NotGranted, "{verb}: {error:?}");
    }
    let journal = world.journal_text().await?;
    ensure!(
        !result.to_string().contains(shop.password()) && !journal.contains(shop.password()),
        "the password was seen"
    );
    ensure!(journal.contains("{{secret:password}}") && journal.contains("plugin orders"), "{journal}");
    world.end().await;
    Ok(())
}
