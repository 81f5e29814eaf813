//! What the host knows about the one call that an instance belongs to, and the way of its verbs.
//!
//! A store has one [`State`], made for the call and dropped with it: the tab, the deadline, what is left of the budget, the
//! table of its handles. A handle is an entry of this table and so can't be one of another call.
//!
//! Not here: what each import does (`host/`).

use std::{collections::VecDeque, sync::Arc};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::Instant;
use transom_verbs::{ErrorCode, Reason, TabId, ToolError};
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::{
    Host,
    bindings::transom::plugin::types::{Error, Target},
    budget::{Budget, CallBudget},
    call::Deadline,
    interface::Interface,
    limits::Limiter,
    log::CallLog,
    wasi,
};

/// Errors of the host that are remembered for a call, so that one that the plugin returns unchanged keeps its code. A tool
/// returns the last one or gives up; sixteen leave room for one that cleans up first.
const ERRORS_KEPT: usize = 16;

/// Entries of a call's resource table, WASI's included. A call has a handful of tabs and three streams.
const TABLE_ENTRIES_MAX: usize = 1_024;

/// A tab as a guest holds it: which one, or the active one where none has an id yet.
#[derive(Clone, Debug)]
#[expect(unreachable_pub, reason = "the generated bindings export it under another name")]
pub struct TabHandle {
    pub(crate) id: Option<TabId>,
}

/// The answer to an import: what the guest sees, or what ends the guest.
pub(crate) type Answer<T> = wasmtime::Result<Result<T, Error>>;

/// One call, as its store has it.
pub(crate) struct State {
    pub(crate) tool: String,
    pub(crate) tab: Option<TabId>,
    pub(crate) deadline: Deadline,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) log: Arc<CallLog>,
    pub(crate) limiter: Limiter,
    pub(crate) budget: Budget,
    table: ResourceTable,
    wasi: Option<WasiCtx>,
    errors_given: VecDeque<Error>,
}

impl State {
    pub(crate) fn new(
        tool: String,
        tab: Option<TabId>,
        deadline: Deadline,
        host: Arc<dyn Host>,
        memory_max: u64,
        budget: CallBudget,
    ) -> State {
        let mut table = ResourceTable::new();
        table.set_max_capacity(TABLE_ENTRIES_MAX);
        State {
            tool,
            tab,
            deadline,
            log: Arc::new(CallLog::new(Arc::clone(&host), budget.log_bytes)),
            host,
            limiter: Limiter::new(memory_max),
            budget: Budget::new(budget),
            table,
            wasi: None,
            errors_given: VecDeque::new(),
        }
    }

    /// Gives the guest a handle to a tab.
    pub(crate) fn give_tab(&mut self, id: Option<TabId>) -> wasmtime::Result<Resource<TabHandle>> {
        self.budget.take_handle()?;
        Ok(self.table.push(TabHandle { id })?)
    }

    /// The tab that a guest's handle means.
    ///
    /// # Errors
    /// When it is no handle of this call: that ends the guest, since no working one can do it.
    pub(crate) fn tab_id(&self, tab: &Resource<TabHandle>) -> wasmtime::Result<Option<TabId>> {
        Ok(self.table.get(tab)?.id.clone())
    }

    /// Takes a handle back.
    pub(crate) fn drop_tab(&mut self, tab: Resource<TabHandle>) -> wasmtime::Result<()> {
        self.budget.give_handle_back();
        self.table.delete(tab)?;
        Ok(())
    }

    /// Performs a verb and reads its result.
    pub(crate) async fn verb<T: DeserializeOwned>(
        &mut self,
        interface: Interface,
        verb: &'static str,
        args: Args,
    ) -> Answer<T> {
        let now = Instant::now();
        // Nothing is begun that the deadline has overtaken.
        self.deadline.check(now)?;
        if let Some(time) = self.budget.host_call(now)? {
            tokio::time::sleep_until(time).await;
        }
        let answer = self.host.verb(interface.name(), verb, Value::Object(args.0)).await;
        let error = match answer.map(|value| serde_json::from_value(value.into_inner())) {
            Ok(Ok(value)) => return Ok(Ok(value)),
            Ok(Err(error)) => {
                tracing::error!(verb, %error, "a verb's result is not what the registry declares");
                ToolError::failed(Reason::OutcomeUnknown, format!("the result of `{verb}` could not be read"))
            }
            Err(error) => error.into_inner(),
        };
        Ok(Err(self.give_error(error)))
    }

    /// Tells the guest of an error, and remembers that it was told.
    pub(crate) fn give_error(&mut self, error: ToolError) -> Error {
        let error = Error {
            code: error.code.as_str().to_owned(),
            reason: error.reason.map(|reason| reason.as_str().to_owned()),
            message: error.message,
            hint: error.hint,
        };
        if self.errors_given.len() == ERRORS_KEPT {
            self.errors_given.pop_front();
        }
        self.errors_given.push_back(error.clone());
        error
    }

    /// An error that the guest returned, as the error of the host that it is, if it is one.
    pub(crate) fn error_given(&self, error: &Error) -> Option<ToolError> {
        let same = |given: &&Error| {
            (&given.code, &given.reason, &given.message, &given.hint)
                == (&error.code, &error.reason, &error.message, &error.hint)
        };
        let given = self.errors_given.iter().find(same)?;
        Some(ToolError {
            code: ErrorCode::from_wire(&given.code)?,
            reason: given.reason.as_deref().and_then(Reason::from_wire),
            message: given.message.clone(),
            hint: given.hint.clone(),
        })
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        // Made at the first use: a component without WASI never pays for it.
        let ctx = self.wasi.get_or_insert_with(|| wasi::context(&self.log));
        WasiCtxView { ctx, table: &mut self.table }
    }
}

/// The JSON arguments of one verb; what a guest left out is left out.
#[derive(Default)]
pub(crate) struct Args(Map<String, Value>);

impl Args {
    pub(crate) fn new(tab: Option<TabId>) -> Args {
        Args::default().opt("tab", tab.map(String::from))
    }

    pub(crate) fn put(mut self, name: &str, value: impl Into<Value>) -> Args {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn opt(self, name: &str, value: Option<impl Into<Value>>) -> Args {
        match value {
            Some(value) => self.put(name, value),
            None => self,
        }
    }

    /// False is every flag's default.
    pub(crate) fn flag(self, name: &str, value: bool) -> Args {
        if value { self.put(name, true) } else { self }
    }

    pub(crate) fn target(self, target: Option<Target>) -> Args {
        match target {
            None => self,
            Some(Target::ByRef(element)) => self.put("ref", element),
            Some(Target::BySelector(selector)) => self.put("selector", selector),
            Some(Target::ByPoint(point)) => self.put("x", point.x).put("y", point.y),
        }
    }
}
