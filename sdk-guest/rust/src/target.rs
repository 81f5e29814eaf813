//! Which element is meant: a selector (any string), a ref of a snapshot, or a point.

use crate::bindings::transom::plugin::types;

/// An element or a place of the page. A string is a CSS selector: `tab.click("#go")`.
#[derive(Clone, Debug)]
pub struct Target(pub(crate) types::Target);

impl Target {
    /// The first match of a CSS selector.
    pub fn selector(selector: impl Into<String>) -> Target {
        Target(types::Target::BySelector(selector.into()))
    }

    /// The element that a snapshot gave this ref to, e.g. `e12`.
    pub fn by_ref(element: impl Into<String>) -> Target {
        Target(types::Target::ByRef(element.into()))
    }

    /// A point of the viewport, in CSS pixels.
    #[must_use]
    pub fn point(x: f64, y: f64) -> Target {
        Target(types::Target::ByPoint(types::Point { x, y }))
    }
}

impl From<&str> for Target {
    fn from(selector: &str) -> Target {
        Target::selector(selector)
    }
}

impl From<String> for Target {
    fn from(selector: String) -> Target {
        Target::selector(selector)
    }
}

impl From<&String> for Target {
    fn from(selector: &String) -> Target {
        Target::selector(selector)
    }
}
