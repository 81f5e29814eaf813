//! Write a Transom tool plugin in a few lines of Rust.
//!
//! The crate's README has a first plugin, whole. In short: a tool is a function of a [`Call`] and of arguments that are a
//! struct, and [`export_tools!`] makes the component's exports of a list of them.
//!
//! What a plugin uses here is what its component imports: the linker drops the rest. The manifest's `[needs] interfaces`
//! has to name each of these, or the host refuses the component and says which line is missing:
//!
//! | used | interface |
//! |---|---|
//! | [`Tab::navigate`], [`Tab::back`], [`Tab::open`], [`Tab::wait`], [`tabs`], … | `navigate` |
//! | [`Tab::text`], [`Tab::html`], [`Tab::snapshot`], [`Tab::screenshot`], … | `read` |
//! | [`Tab::click`], [`Tab::type_text`], [`Tab::answer_dialog`] | `act` |
//! | [`Tab::evaluate`], [`Tab::wait_for_script`] | `script` |
//! | [`Tab::download`], [`Tab::upload`] | `files` |
//! | [`Tab::type_secret`], [`secret_names`] | `secrets` |
//! | [`log`] | `log` |
//! | [`Call`] | always allowed |
//!
//! Not here: a runtime, threads, files, sockets, the environment. A plugin has its tab, its arguments and a deadline.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod answer;
mod call;
mod error;
pub mod log;
mod tab;
mod target;
mod tool;

/// The generated bindings, for what the wrappers don't cover.
#[allow(missing_docs, reason = "documented in wit/")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "transom:plugin/plugin",
        pub_export_macro: true,
        export_macro_name: "export_component",
        default_bindings_module: "transom_guest::bindings",
    });
}

pub use answer::Answer;
pub use bindings::transom::plugin::{
    act::{Button, ClickOptions, Modifiers, TypeMode, TypeOptions},
    navigate::{Condition, LoadState, NavigateOptions},
    read::{
        ExtractFormat, ExtractOptions, Extracted, Image, ImageFormat, PageSnapshot, ScreenshotOptions, SnapshotOptions,
    },
    types::{File, OpenDialog, Page, TabInfo, Until},
};
pub use call::Call;
pub use error::{Error, Result};
pub use tab::{Acted, Tab, secret_names, tabs};
pub use target::Target;
pub use tool::{Tool, Tools};

pub use serde_json;

/// What a plugin's source begins with: `use transom_guest::prelude::*;`.
pub mod prelude {
    pub use crate::{Answer, Call, Error, Result, Tab, Target, Tool, export_tools, log};
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};
    pub use serde_json::json;
}

/// Makes the component's exports of a list of [`Tool`]s.
///
/// ```ignore
/// export_tools! {
///     Tool::read("list", "Reads the orders", list),
///     Tool::write("cancel", "Cancels one order", cancel).ends_sequence(),
/// }
/// ```
#[macro_export]
macro_rules! export_tools {
    ($($tool:expr),+ $(,)?) => {
        struct Component;

        impl $crate::bindings::exports::transom::plugin::tools::Guest for Component {
            fn describe() -> Vec<$crate::bindings::exports::transom::plugin::tools::Tool> {
                $crate::Tools(vec![$($tool),+]).describe()
            }

            fn call(
                name: String,
                arguments: String,
            ) -> Result<
                $crate::bindings::exports::transom::plugin::tools::ToolResult,
                $crate::bindings::transom::plugin::types::Error,
            > {
                $crate::Tools(vec![$($tool),+]).call(&name, &arguments)
            }
        }

        $crate::bindings::export_component!(Component with_types_in $crate::bindings);
    };
}
