//! The verbs that act on a page.

pub(crate) mod click;
pub(crate) mod download;
pub(crate) mod keys;
pub(crate) mod type_text;
pub(crate) mod upload;
