//! Which of Chromium's agents a call is for: the browser itself, or one target by its flattened session.

use std::{fmt, sync::Arc};

use chromiumoxide_types::Command;

use super::connection::{CallError, Connection, Reply};

/// A flattened session's id. Cheap to clone: it goes into every call.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SessionId(Arc<str>);

impl SessionId {
    /// The id as Chromium writes it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SessionId {
    fn from(id: &str) -> SessionId {
        SessionId(id.into())
    }
}

impl std::borrow::Borrow<str> for SessionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A connection and the agent on it that calls are for.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    connection: Connection,
    id: Option<SessionId>,
}

impl Session {
    /// The browser's own agent.
    pub(crate) fn browser(connection: Connection) -> Session {
        Session { connection, id: None }
    }

    /// The agent of one target.
    pub(crate) fn target(connection: Connection, id: SessionId) -> Session {
        Session { connection, id: Some(id) }
    }

    /// Sends a command now and returns its answer as a future. Commands arrive in the order in which this was called, whether or
    /// not their answers are awaited in between.
    pub(crate) fn send<C: Command>(&self, command: &C) -> Reply {
        self.connection.send(self.id.as_ref(), command)
    }

    /// Sends a command whose answer nobody needs.
    pub(crate) fn post<C: Command>(&self, command: &C) {
        self.connection.post(self.id.as_ref(), command);
    }

    /// Sends a command and waits for its answer as the generated type.
    pub(crate) async fn call<C: Command>(&self, command: &C) -> Result<C::Response, CallError> {
        self.send(command).parsed::<C::Response>().await
    }
}
