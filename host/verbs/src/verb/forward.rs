//! `forward`: Go forward one page in the tab's history.

use crate::{
    error::{ErrorCode, Reason},
    registry::{Effect, Interface, Retry, Spec},
    schema,
};

pub use super::{NoInput as Input, navigate::Output};

pub(crate) const SPEC: Spec = Spec {
    name: "forward",
    summary: "Go forward one page in the tab's history.",
    description: "Go forward one page in the tab's history and answer with the page reached. An error when there is none.",
    effect: Effect::Read,
    retry: Retry::Never,
    interface: Interface::Navigate,
    returns: "The page reached.",
    errors: &[ErrorCode::SiteBlocked],
    reasons: &[Reason::Navigation, Reason::Timeout, Reason::NotFound, Reason::DialogOpen, Reason::PageCrashed],
    asks_person: false,
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    example: "{}",
};
