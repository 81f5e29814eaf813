//! `reload`: Load the page again.

use crate::{
    error::{ErrorCode, Reason},
    registry::{Effect, Interface, Retry, Spec},
    schema,
};

pub use super::{NoInput as Input, navigate::Output};

pub(crate) const SPEC: Spec = Spec {
    name: "reload",
    summary: "Load the page again.",
    description: "Load the tab's page again and answer with the page reached. What was typed but not sent is lost.",
    effect: Effect::Read,
    retry: Retry::Safe,
    interface: Interface::Navigate,
    returns: "The page reached.",
    errors: &[ErrorCode::SiteBlocked],
    reasons: &[Reason::Navigation, Reason::Timeout, Reason::NotFound, Reason::DialogOpen, Reason::PageCrashed],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: "{}",
};
