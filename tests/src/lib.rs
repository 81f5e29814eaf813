//! What the end-to-end tests share: sites on loopback that count who asks them, and a host with one run.
//!
//! Nothing here stands in for a part of the product: Chromium, the jail, the gate and the components are the real ones. A test
//! that can't have one of them fails; it never passes by skipping.

pub mod http;
pub mod program;
pub mod site;
pub mod world;
