//! Scripts of a caller and secrets of a binding don't meet in one browser, unless the binding says so.
//!
//! A script that ran before a secret was typed may have left something behind that listens (a handler, a worker, an entry of the
//! site's storage); one that runs afterwards may read what a page kept. Either could encode the secret past any redactor. So in a
//! binding without `evaluate_with_secrets`, whichever comes first keeps the other out for as long as the browser lives.
//!
//! Not here: the browser layer's own guard over the documents of one tab, which stands beneath this.

use std::sync::{Mutex, PoisonError};

use transom_verbs::{ErrorCode, ToolError};

use crate::binding::Binding;

/// What a session's browser has had first.
#[derive(Debug, Default)]
pub(crate) struct Mixing(Mutex<Had>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Had {
    #[default]
    Neither,
    Script,
    Secret,
}

impl Mixing {
    /// A new browser has had neither.
    pub(crate) fn start_anew(&self) {
        *self.had() = Had::Neither;
    }

    /// A script of the caller is about to run.
    pub(crate) fn before_script(&self, binding: &Binding) -> Result<(), ToolError> {
        self.before(binding, Had::Script, "a script can't run where a secret was typed: it could carry the secret out")
    }

    /// A secret is about to be typed.
    pub(crate) fn before_secret(&self, binding: &Binding) -> Result<(), ToolError> {
        self.before(
            binding,
            Had::Secret,
            "a secret can't be typed in a browser in which a script of the caller ran: it could listen",
        )
    }

    fn before(&self, binding: &Binding, next: Had, why: &str) -> Result<(), ToolError> {
        if binding.evaluate_with_secrets {
            return Ok(());
        }
        let mut had = self.had();
        if *had == Had::Neither || *had == next {
            *had = next;
            return Ok(());
        }
        Err(ToolError::new(ErrorCode::NotGranted, format!("refused: {why}")).with_hint(format!(
            "read the page by `snapshot` or `extract`; an operator can set `evaluate_with_secrets = true` in the binding \"{}\"",
            binding.prefix
        )))
    }

    fn had(&self) -> std::sync::MutexGuard<'_, Had> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
