//! Reads a shop's order list: logs in where the shop asks for it, walks the pages, and answers with a table and with rows.
//!
//! The password is typed by the host (`{{secret:password}}` in the binding's words): this code knows its name and never its
//! value. Pages are read by `extract` as HTML; no script runs in them.
//!
//! Not here: how a page's HTML becomes rows (`page.rs`), how rows become text (`table.rs`).

mod page;
mod table;

use transom_guest::prelude::*;

use page::{Order, OrdersPage};

/// The secret that is typed as the password.
const PASSWORD: &str = "password";

/// Pages that are read unless `max_pages` says otherwise. Ten pages of a shop are some hundred orders: more than a model
/// should be given at once.
const PAGES: u32 = 10;

#[derive(Deserialize, JsonSchema)]
struct ListArgs {
    /// The account to log in with, where the shop asks for it
    email: Option<String>,
    /// Pages to read at most (10)
    #[schemars(range(min = 1, max = 50))]
    max_pages: Option<u32>,
}

/// What `list` gives as data.
#[derive(Serialize, JsonSchema)]
struct Orders {
    orders: Vec<Order>,
    pages: u32,
    /// There were more pages than were read
    more: bool,
}

fn list(call: Call, args: ListArgs) -> Result<Answer> {
    let tab = call.tab();
    let max_pages = args.max_pages.unwrap_or(PAGES);

    let mut page = first_page(&tab, args.email.as_deref())?;
    let mut found = Orders { orders: Vec::new(), pages: 0, more: false };
    loop {
        found.orders.append(&mut page.orders);
        found.pages += 1;
        if !page.has_next {
            break;
        }
        if found.pages == max_pages {
            found.more = true;
            break;
        }
        tab.click("a[rel=next]")?;
        page = OrdersPage::read(&tab)?;
    }
    log::info(format!("read {} orders on {} pages", found.orders.len(), found.pages));

    let memory = format!("{} orders on {} pages were read from the shop", found.orders.len(), found.pages);
    Answer::text(table::markdown(&found.orders, found.more)).memory(memory).structured(&found)
}

/// The list's first page, wherever the tab is: straight away, or after a login.
fn first_page(tab: &Tab, email: Option<&str>) -> Result<OrdersPage> {
    let first = page::first_page_url(&current_url(tab)?)?;
    let mut url = tab.navigate(&first)?.url;
    if page::is_login(&url) {
        url = log_in(tab, email)?;
        if page::is_login(&url) {
            let said = tab.text("[role=alert]").unwrap_or_default();
            return Err(Error::new(format!("the shop did not take the login: {said}")));
        }
        // Shops send one who has logged in to where they wanted to go, or to some page of their own.
        if url != first {
            tab.navigate(&first)?;
        }
    }
    OrdersPage::read(tab)
}

fn current_url(tab: &Tab) -> Result<String> {
    let id = tab.id();
    let tabs = transom_guest::tabs()?;
    let here = tabs.into_iter().find(|each| if id.is_empty() { each.active } else { each.tab == id });
    here.map(|here| here.url).ok_or_else(|| Error::new("the tab is gone"))
}

/// Fills the form in and sends it. Answers with the URL that it led to.
fn log_in(tab: &Tab, email: Option<&str>) -> Result<String> {
    let email = email.ok_or_else(|| {
        Error::invalid("the shop asks for a login and `email` is missing").hint("call again with `email`")
    })?;
    tab.type_text("#email", email)?;
    tab.type_secret("#password", PASSWORD)?;
    Ok(tab.click("#signin")?.url)
}

export_tools! {
    Tool::read(
        "list",
        "List the shop's orders, newest first: number, date, customer, status and total. Logs in with `email` and the \
         shop's stored password where the shop asks for it, and reads page after page.",
        list,
    )
    .gives::<Orders>(),
}
