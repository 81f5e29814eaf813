//! The shop's orders: the same 24 for everybody, every time, so that a demo and a test can name what they expect.
//!
//! Some names hold characters that mean something in HTML, CSV or Markdown: what reads this shop meets them too.
//!
//! Not here: how an order is shown (`pages.rs`).

/// Orders on one page of the list.
pub const PER_PAGE: usize = 8;

/// Pages of the list.
pub const PAGES: usize = ORDERS.len().div_ceil(PER_PAGE);

/// One order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its number.
    pub number: u32,
    /// The day it was placed, as `2026-10-28`.
    pub date: &'static str,
    /// Who placed it.
    pub customer: &'static str,
    /// Where it stands.
    pub status: Status,
    /// The total in cents of a euro.
    pub cents: u32,
}

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing has been packed.
    Open,
    /// It waits for the carrier.
    Packed,
    /// The carrier has it.
    Shipped,
    /// It arrived.
    Delivered,
    /// It came back.
    Returned,
}

impl Status {
    /// As the shop writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Status::Open => "Open",
            Status::Packed => "Packed",
            Status::Shipped => "Shipped",
            Status::Delivered => "Delivered",
            Status::Returned => "Returned",
        }
    }
}

impl Order {
    const fn new(number: u32, date: &'static str, customer: &'static str, status: Status, cents: u32) -> Order {
        Order { number, date, customer, status, cents }
    }

    /// The total as the shop writes it: `€ 129.90`.
    #[must_use]
    pub fn total(&self) -> String {
        format!("€ {}", self.euros())
    }

    /// The total as a plain number: `129.90`.
    fn euros(&self) -> String {
        format!("{}.{:02}", self.cents / 100, self.cents % 100)
    }
}

use Status::{Delivered, Open, Packed, Returned, Shipped};

/// Every order, newest first.
pub const ORDERS: [Order; 24] = [
    Order::new(1024, "2026-10-28", "Ada & Sons", Open, 12_990),
    Order::new(1023, "2026-10-27", "Grace Hopper", Open, 4_550),
    Order::new(1022, "2026-10-27", "Bolts | Nuts Ltd", Packed, 31_200),
    Order::new(1021, "2026-10-26", "Mary Jackson", Packed, 780),
    Order::new(1020, "2026-10-24", "O'Neill <Carpentry>", Shipped, 21_499),
    Order::new(1019, "2026-10-23", "Katherine Johnson", Shipped, 6_325),
    Order::new(1018, "2026-10-21", "Zoë Müller", Shipped, 1_895),
    Order::new(1017, "2026-10-20", "Linus & Co., Joiners", Shipped, 104_000),
    Order::new(1016, "2026-10-19", "Radia Perlman", Delivered, 3_745),
    Order::new(1015, "2026-10-17", "Ada & Sons", Delivered, 9_900),
    Order::new(1014, "2026-10-16", "Hedy Lamarr", Delivered, 15_280),
    Order::new(1013, "2026-10-15", "佐藤 花子", Delivered, 2_660),
    Order::new(1012, "2026-10-13", "Edsger Dijkstra", Returned, 8_415),
    Order::new(1011, "2026-10-12", "Barbara Liskov", Delivered, 5_070),
    Order::new(1010, "2026-10-10", "\"Corner\" Hardware", Delivered, 27_635),
    Order::new(1009, "2026-10-09", "Grace Hopper", Delivered, 1_120),
    Order::new(1008, "2026-10-08", "Annie Easley", Delivered, 7_305),
    Order::new(1007, "2026-10-06", "Dorothy Vaughan", Delivered, 18_950),
    Order::new(1006, "2026-10-05", "Joan Clarke", Returned, 640),
    Order::new(1005, "2026-10-03", "Frances Allen", Delivered, 43_210),
    Order::new(1004, "2026-10-02", "Mary Jackson", Delivered, 2_980),
    Order::new(1003, "2026-10-01", "Karen Spärck Jones", Delivered, 11_125),
    Order::new(1002, "2026-09-29", "Evelyn Boyd", Delivered, 5_499),
    Order::new(1001, "2026-09-28", "Margaret Hamilton", Delivered, 36_000),
];

/// The orders on a page of the list; none where there is no such page. The first page is 1.
#[must_use]
pub fn page(number: usize) -> Option<&'static [Order]> {
    ORDERS.chunks(PER_PAGE).nth(number.checked_sub(1)?)
}

/// All orders as CSV, with a line of headings (RFC 4180).
#[must_use]
pub fn csv() -> String {
    let mut text = String::from("order,date,customer,status,total_eur\r\n");
    for order in &ORDERS {
        let fields = [
            order.number.to_string(),
            order.date.to_owned(),
            order.customer.to_owned(),
            order.status.name().to_owned(),
            order.euros(),
        ];
        text.push_str(&fields.map(|field| quoted(&field)).join(","));
        text.push_str("\r\n");
    }
    text
}

/// A field, in quotes where it holds what would end it.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_on_one_page_and_newest_come_first() {
        let listed: Vec<&Order> = (1..=PAGES).flat_map(|number| page(number).unwrap()).collect();
        assert_eq!(listed, ORDERS.iter().collect::<Vec<_>>());
        assert!(ORDERS.windows(2).all(|two| two[0].number > two[1].number && two[0].date >= two[1].date));
        assert!(page(0).is_none() && page(PAGES + 1).is_none());
    }

    #[test]
    fn a_field_with_a_comma_or_a_quote_stays_one_field() {
        let csv = csv();
        assert_eq!(csv.lines().count(), 1 + ORDERS.len());
        assert!(csv.contains("1017,2026-10-20,\"Linus & Co., Joiners\",Shipped,1040.00\r\n"), "{csv}");
        assert!(csv.contains("1010,2026-10-10,\"\"\"Corner\"\" Hardware\",Delivered,276.35\r\n"), "{csv}");
    }
}
