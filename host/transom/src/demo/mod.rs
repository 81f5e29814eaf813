//! `transom demo`.

pub mod shop;
