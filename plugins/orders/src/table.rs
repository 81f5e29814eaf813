//! Rows as a Markdown table. What a shop wrote can't break out of its cell.

use crate::page::Order;

/// The table, with a line that says whether it is whole.
pub fn markdown(orders: &[Order], more: bool) -> String {
    let mut text = String::from("| Order | Date | Customer | Status | Total |\n|---|---|---|---|---|\n");
    for order in orders {
        let cells = [&order.order, &order.date, &order.customer, &order.status, &order.total].map(|cell| escape(cell));
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let rest = if more { "; there are more pages" } else { "" };
    text.push_str(&format!("\n{} orders{rest}.", orders.len()));
    text
}

fn escape(cell: &str) -> String {
    cell.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_cannot_add_a_column_or_a_row() {
        let order = Order {
            order: "1|2".into(),
            date: "d".into(),
            customer: "a\n| x".into(),
            status: "s".into(),
            total: "t\\|".into(),
        };
        let text = markdown(&[order], false);
        assert!(text.contains(r"| 1\|2 | d | a \| x | s | t\\\| |"), "{text}");
        assert!(text.ends_with("1 orders."), "{text}");
    }
}
