//! `switch`: make a tab the active one.
//!
//! `tab` is the argument that every verb takes; here it is the one to switch to, and has to be there.

use crate::{
    error::Reason,
    registry::{Effect, Interface, Retry, Spec},
    schema,
};

pub use super::{NoInput as Input, tabs::Output};

pub(crate) const SPEC: Spec = Spec {
    name: "switch",
    summary: "Make a tab the active one.",
    description: "Make the tab `tab` the active one: calls without `tab` go there from now on. Answers with all tabs.",
    effect: Effect::Read,
    retry: Retry::Safe,
    interface: Interface::Navigate,
    returns: "The tabs, the chosen one active.",
    errors: &[],
    reasons: &[Reason::NotFound],
    asks_person: false,
    input: input_schema,
    output: schema::output::<Output>,
    example: r#"{"tab": "t2"}"#,
};

fn input_schema() -> serde_json::Value {
    let mut schema = schema::input::<Input>();
    if let Some(object) = schema.as_object_mut() {
        object.insert("required".into(), serde_json::json!(["tab"]));
    }
    schema
}
