//! `plugins/orders` against a shop made of a few strings: it logs in without seeing the password, and reads every page.
//!
//! The real shop in a real browser is the end-to-end tests' business.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use support::{load, refusal};
use tokio::time::{Duration, Instant};
use transom_plugins::{Host, LogLevel, ToolResult};
use transom_policy::redact::{Redacted, Redactor};
use transom_verbs::{ErrorCode, Reason, ToolError};

const ORIGIN: &str = "http://shop.test:8080";
const PAGES: usize = 3;

/// The shop, and a browser that shows it.
struct Shop {
    inner: Mutex<Seen>,
    /// Whether the password is right.
    takes_login: bool,
}

struct Seen {
    url: String,
    is_logged_in: bool,
    has_email: bool,
    has_password: bool,
    asked: Vec<String>,
}

impl Shop {
    fn at(url: &str, takes_login: bool) -> Arc<Shop> {
        let url = url.to_owned();
        let inner = Seen { url, is_logged_in: false, has_email: false, has_password: false, asked: Vec::new() };
        Arc::new(Shop { inner: Mutex::new(inner), takes_login })
    }

    fn asked(&self) -> Vec<String> {
        self.inner.lock().unwrap().asked.clone()
    }
}

impl Seen {
    fn page(&self) -> usize {
        self.url.split_once("page=").map_or(1, |(_, page)| page.parse().unwrap())
    }

    fn go(&mut self, url: &str) -> Value {
        let wants_list = url.starts_with(&format!("{ORIGIN}/orders"));
        self.url = if wants_list && !self.is_logged_in { format!("{ORIGIN}/login") } else { url.to_owned() };
        json!({"url": self.url, "title": "Shop", "status": 200})
    }

    fn html(&self, selector: &str) -> Result<String, ToolError> {
        let on_list = self.url.starts_with(&format!("{ORIGIN}/orders"));
        let missing = || ToolError::failed(Reason::NotFound, format!("nothing matches `{selector}`"));
        match selector {
            "table#orders" if on_list => {
                let rows: String = (1..=8)
                    .map(|n| {
                        let order = 1_000 + self.page() * 8 + n;
                        format!("<tr data-order=\"{order}\"><td>{order}</td><td>2026-10-0{n}</td><td>Ada | Sons &amp; Co</td><td>Open</td><td>€ {n}.00</td></tr>")
                    })
                    .collect();
                let head = "<tr><th>Order</th><th>Date</th><th>Customer</th><th>Status</th><th>Total</th></tr>";
                Ok(format!("<table id=\"orders\"><thead>{head}</thead><tbody>{rows}</tbody></table>"))
            }
            "a[rel=next]" if on_list && self.page() < PAGES => Ok("<a rel=\"next\" href=\"#\">Older</a>".to_owned()),
            "[role=alert]" => Ok("Wrong email or password.".to_owned()),
            _ => Err(missing()),
        }
    }
}

#[async_trait]
impl Host for Shop {
    async fn verb(
        &self,
        interface: &'static str,
        verb: &'static str,
        args: Value,
    ) -> Result<Redacted<Value>, Redacted<ToolError>> {
        let mut seen = self.inner.lock().unwrap();
        let selector = args["selector"].as_str().unwrap_or_default().to_owned();
        let what = [&args["url"], &args["selector"]].into_iter().find_map(Value::as_str).unwrap_or_default().to_owned();
        seen.asked.push(format!("{interface}.{verb} {what}"));
        let outcome = match (verb, selector.as_str()) {
            ("tabs", _) => json!({"tabs": [{"tab": "t1", "title": "", "url": seen.url, "active": true}]}),
            ("navigate", _) => seen.go(args["url"].as_str().unwrap()),
            ("type", "#email") => {
                seen.has_email = args["text"] == "robin@example.com";
                json!({"url": seen.url})
            }
            ("type", "#password") => {
                seen.has_password = interface == "secrets" && args["text"] == "{{secret:password}}";
                json!({"url": seen.url})
            }
            ("click", "#signin") => {
                seen.is_logged_in = self.takes_login && seen.has_email && seen.has_password;
                let to = if seen.is_logged_in { format!("{ORIGIN}/orders") } else { format!("{ORIGIN}/login") };
                seen.go(&to)
            }
            ("click", "a[rel=next]") => {
                let next = format!("{ORIGIN}/orders?page={}", seen.page() + 1);
                seen.go(&next)
            }
            ("extract", selector) => match seen.html(selector) {
                Ok(text) => json!({"text": text, "truncated": false, "url": seen.url}),
                Err(error) => return Err(Redactor::none().error(&error)),
            },
            other => panic!("the shop has no {other:?}"),
        };
        Ok(Redactor::none().value(&outcome))
    }

    fn secret_names(&self) -> Vec<String> {
        vec!["password".to_owned()]
    }

    fn log(&self, _level: LogLevel, _line: &str) {}
}

async fn list(shop: &Arc<Shop>, args: Value) -> Result<ToolResult, ToolError> {
    let plugin = load("orders").await;
    plugin.call("list", args, None, shop.clone(), Instant::now() + Duration::from_secs(40)).await
}

#[tokio::test]
async fn all_pages_are_read_after_a_login_with_a_password_that_is_never_seen() {
    let shop = Shop::at(&format!("{ORIGIN}/"), true);
    let result = list(&shop, json!({"email": "robin@example.com"})).await.unwrap();
    let data = result.structured.unwrap();
    let orders = data["orders"].as_array().unwrap();
    assert_eq!((orders.len(), &data["pages"], &data["more"]), (24, &json!(3), &json!(false)));
    assert_eq!(
        orders[0],
        json!({"order": "1009", "date": "2026-10-01", "customer": "Ada | Sons & Co", "status": "Open", "total": "€ 1.00"})
    );
    assert_eq!(orders[23]["order"], "1032");
    assert!(result.content.contains(r"| 1009 | 2026-10-01 | Ada \| Sons & Co | Open | € 1.00 |"), "{}", result.content);
    assert!(result.content.ends_with("24 orders."), "{}", result.content);
    assert_eq!(result.memory.unwrap(), "24 orders on 3 pages were read from the shop");
    let login = ["act.type #email", "secrets.type #password", "act.click #signin"];
    assert!(shop.asked().windows(3).any(|asked| asked == login), "{:?}", shop.asked());
}

#[tokio::test]
async fn one_who_is_logged_in_needs_no_email_and_max_pages_is_kept() {
    let shop = Shop::at(&format!("{ORIGIN}/orders?page=3"), true);
    shop.inner.lock().unwrap().is_logged_in = true;
    let result = list(&shop, json!({"max_pages": 2})).await.unwrap();
    let data = result.structured.unwrap();
    assert_eq!((data["orders"].as_array().unwrap().len(), &data["more"]), (16, &json!(true)));
    assert!(result.content.ends_with("16 orders; there are more pages."), "{}", result.content);
    assert!(!shop.asked().iter().any(|asked| asked.starts_with("secrets.")));
}

#[tokio::test]
async fn a_login_that_is_needed_or_refused_says_so() {
    let shop = Shop::at(&format!("{ORIGIN}/"), true);
    let (code, _, text) = refusal(list(&shop, json!({})).await);
    assert_eq!(code, ErrorCode::InvalidInput);
    assert!(text.ends_with("| call again with `email`"), "{text}");

    let shop = Shop::at(&format!("{ORIGIN}/"), false);
    let (code, reason, text) = refusal(list(&shop, json!({"email": "robin@example.com"})).await);
    assert_eq!((code, reason), (ErrorCode::Failed, Some(Reason::Plugin)));
    assert!(text.contains("did not take the login: Wrong email or password."), "{text}");
}

#[tokio::test]
async fn a_tab_without_a_shop_and_a_wrong_argument_are_refused() {
    let shop = Shop::at("about:blank", true);
    let (_, reason, text) = refusal(list(&shop, json!({})).await);
    assert_eq!(reason, Some(Reason::Plugin));
    assert!(text.contains("open the shop first"), "{text}");
    let (code, _, text) = refusal(list(&shop, json!({"max_pages": 0})).await);
    assert_eq!(code, ErrorCode::InvalidInput);
    assert!(text.contains("`max_pages`: 0 is less than the minimum of 1"), "{text}");
}
