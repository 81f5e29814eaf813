//! How far verbs are from the floor: the same work as bare commands on the same pipe. Not a test, so it is only run when asked:
//! `cargo test -p transom-browser --test browser -- --ignored --nocapture floor`

use std::time::{Duration, Instant};

use serde_json::json;
use transom_verbs::{Call, Verb};

use crate::support::{Fixture, browser};

const ROUNDS: usize = 300;

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

async fn verb(t: &Fixture, name: &str, arguments: serde_json::Value, rounds: usize) -> f64 {
    let call = Call::parse(Verb::from_name(name).unwrap(), &arguments).unwrap();
    let mut times = Vec::new();
    for _ in 0..rounds {
        let began = Instant::now();
        t.browser.perform(&call, tokio::time::Instant::now() + Duration::from_secs(30)).await.unwrap();
        times.push(began.elapsed());
    }
    median(times)
}

async fn raw(t: &Fixture, commands: &[(&'static str, serde_json::Value)], rounds: usize) -> f64 {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let began = Instant::now();
        for (method, parameters) in commands {
            t.browser.command_for_tests(method, parameters.clone()).await.unwrap();
        }
        times.push(began.elapsed());
    }
    median(times)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn floor_of_evaluate_click_snapshot_and_screenshot() {
    let many: String = (0..2000).map(|n| format!("<button>Control {n}</button>")).collect();
    let button = "<button style='position:absolute;left:10px;top:10px;width:80px;height:30px' onclick='n++'>Go</button><script>n=0</script>";
    let t = browser(&[("a/", button), ("a/many", &many)]).await;
    t.go("a/").await;
    let evaluate = ("Runtime.evaluate", json!({"expression": "1", "returnByValue": true}));
    let mouse = |kind: &str| {
        ("Input.dispatchMouseEvent", json!({"type": kind, "x": 50, "y": 25, "button": "left", "clickCount": 1}))
    };
    let picture = ("Page.captureScreenshot", json!({"format": "png"}));
    for _ in 0..2 {
        let floor = raw(&t, std::slice::from_ref(&evaluate), ROUNDS).await;
        println!(
            "evaluate   floor {floor:.2} ms  verb {:.2} ms",
            verb(&t, "evaluate", json!({"script": "1"}), ROUNDS).await
        );
        let floor = raw(&t, &[mouse("mousePressed"), mouse("mouseReleased")], ROUNDS).await;
        println!(
            "click      floor {floor:.2} ms  verb {:.2} ms",
            verb(&t, "click", json!({"selector": "button"}), ROUNDS).await
        );
        let floor = raw(&t, std::slice::from_ref(&picture), 30).await;
        println!("screenshot floor {floor:.2} ms  verb {:.2} ms", verb(&t, "screenshot", json!({}), 30).await);
    }
    let page = json!({"url": t.site.url("a/")});
    let floor = raw(&t, &[("Page.navigate", page.clone())], 30).await;
    println!(
        "navigate   floor {floor:.2} ms (to the commit only)  verb {:.2} ms",
        verb(&t, "navigate", page, 30).await
    );
    t.go("a/many").await;
    println!("snapshot of 2,000 controls {:.2} ms", verb(&t, "snapshot", json!({}), 30).await);
}
