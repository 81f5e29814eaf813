//! One page of the list: its HTML as rows.
//!
//! The columns are found by their headings and not by their order, so a shop that adds one is still read right.

use scraper::{ElementRef, Html, Selector};
use transom_guest::prelude::*;

/// Where the list is, on whatever host the tab is.
const LIST_PATH: &str = "/orders";
/// Where the shop sends those it doesn't know.
const LOGIN_PATH: &str = "/login";

/// One order, as the shop writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Order {
    /// The order's number
    pub order: String,
    /// As the shop writes it
    pub date: String,
    pub customer: String,
    pub status: String,
    /// With its currency, as the shop writes it
    pub total: String,
}

/// What one page says.
#[derive(Debug)]
pub struct OrdersPage {
    /// In the page's order.
    pub orders: Vec<Order>,
    /// There is a link to a next page.
    pub has_next: bool,
}

impl OrdersPage {
    /// Reads the page that the tab shows.
    pub fn read(tab: &Tab) -> Result<OrdersPage> {
        let table = tab.html("table#orders").map_err(|error| match error.reason() {
            Some("not_found") => Error::new("this page has no order list (`table#orders`)"),
            _ => error,
        })?;
        let has_next = match tab.html("a[rel=next]") {
            Ok(_) => true,
            Err(error) if error.is("not_found") => false,
            Err(error) => return Err(error),
        };
        Ok(OrdersPage { orders: rows(&table)?, has_next })
    }
}

/// Whether a URL is that of the login page.
pub fn is_login(url: &str) -> bool {
    path_of(url).is_some_and(|path| path == LOGIN_PATH)
}

/// The list's first page on the host of `url`.
pub fn first_page_url(url: &str) -> Result<String> {
    let origin = origin_of(url).ok_or_else(|| Error::new("the tab shows no web page: open the shop first"))?;
    Ok(format!("{origin}{LIST_PATH}"))
}

/// The rows of the table's HTML.
fn rows(table: &str) -> Result<Vec<Order>> {
    let html = Html::parse_fragment(table);
    let headings: Vec<String> =
        html.select(&selector("tr th")?).map(|cell| text_of(cell).to_ascii_lowercase()).collect();
    let column = |name: &str| {
        headings
            .iter()
            .position(|heading| heading == name)
            .ok_or_else(|| Error::new(format!("the order list has no column `{name}`: the shop has changed")))
    };
    let (order, date, customer) = (column("order")?, column("date")?, column("customer")?);
    let (status, total) = (column("status")?, column("total")?);

    let cells = selector("td")?;
    html.select(&selector("tr[data-order]")?)
        .map(|row| {
            let row: Vec<String> = row.select(&cells).map(text_of).collect();
            let cell = |column: usize| {
                row.get(column).cloned().ok_or_else(|| Error::new("an order has fewer cells than the list has columns"))
            };
            Ok(Order {
                order: cell(order)?,
                date: cell(date)?,
                customer: cell(customer)?,
                status: cell(status)?,
                total: cell(total)?,
            })
        })
        .collect()
}

/// An element's text with each run of white space as one space, as a reader sees it.
fn text_of(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn selector(css: &str) -> Result<Selector> {
    Selector::parse(css).map_err(|error| Error::new(format!("selector {css}: {error}")))
}

fn origin_of(url: &str) -> Option<&str> {
    let after_scheme = url.find("://")? + 3;
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    let end = url[after_scheme..].find(['/', '?', '#']).map_or(url.len(), |at| after_scheme + at);
    (is_web && end > after_scheme).then(|| &url[..end])
}

fn path_of(url: &str) -> Option<&str> {
    let rest = &url[origin_of(url)?.len()..];
    Some(&rest[..rest.find(['?', '#']).unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"<table id="orders">
        <thead><tr><th>Order</th><th>Date</th><th>Customer</th><th>Status</th><th>Total</th></tr></thead>
        <tbody>
        <tr data-order="1001"><td><a href="/orders/1001">1001</a></td><td>2026-10-01</td><td>Ada &amp; Sons</td>
            <td><span>Shipped</span></td><td>€ 12.50</td></tr>
        <tr class="summary"><td colspan="5">not an order</td></tr>
        <tr data-order="1002"><td>1002</td><td>2026-10-02</td><td> Grace
            Hopper </td><td>Open</td><td>€ 7.00</td></tr>
        </tbody></table>"#;

    #[test]
    fn rows_are_read_as_a_reader_sees_them() {
        let orders = rows(TABLE).unwrap();
        assert_eq!(orders.len(), 2);
        assert_eq!(orders[0].order, "1001");
        assert_eq!(orders[0].customer, "Ada & Sons");
        assert_eq!(orders[0].status, "Shipped");
        assert_eq!(orders[1].customer, "Grace Hopper");
        assert_eq!(orders[1].total, "€ 7.00");
    }

    #[test]
    fn columns_are_found_by_their_headings() {
        let moved = r#"<table><tr><th>Total</th><th>Note</th><th>Status</th><th>Customer</th><th>Date</th><th>Order</th></tr>
            <tr data-order="1"><td>€ 1</td><td>gift</td><td>Open</td><td>Ada</td><td>2026-01-01</td><td>1</td></tr></table>"#;
        let orders = rows(moved).unwrap();
        assert_eq!((orders[0].order.as_str(), orders[0].total.as_str()), ("1", "€ 1"));
    }

    #[test]
    fn a_list_without_a_column_says_which() {
        let error = rows("<table><tr><th>Order</th></tr></table>").unwrap_err();
        assert!(error.message().contains("`date`"), "{error}");
    }

    #[test]
    fn the_first_page_is_on_the_host_of_the_tab() {
        for url in
            ["http://shop.test:8080/login?next=/orders", "http://shop.test:8080", "http://shop.test:8080?a=/b#/c"]
        {
            assert_eq!(first_page_url(url).unwrap(), "http://shop.test:8080/orders");
        }
        for url in ["about:blank", "", "data:text/html,https://x.test/", "https://"] {
            assert!(first_page_url(url).is_err(), "{url}");
        }
    }

    #[test]
    fn the_login_page_is_known_by_its_path() {
        assert!(is_login("https://shop.test/login"));
        assert!(is_login("https://shop.test/login?next=%2Forders"));
        assert!(!is_login("https://shop.test/orders?from=/login"));
        assert!(!is_login("about:blank"));
    }
}
