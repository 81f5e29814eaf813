//! What the gate refused, as rows of the journal: once for each host and port of a browser.
//!
//! A page may try a thousand times a second; the journal gets each place once, and a bounded number of places. The gate's own
//! counters have the totals.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::json;
use tokio::sync::broadcast::{self, error::RecvError};
use transom_egress::gate::{EgressEvent, Verdict};

use crate::{
    dispatcher::Dispatcher,
    journal::{Kind, Record},
};

/// Places that one browser's rows name. A page that tries more of them is trying to fill the journal.
const PLACES_MAX: usize = 100;

/// Where the rows go.
#[derive(Clone, Debug)]
pub(crate) struct EgressRows {
    pub run: String,
    pub dispatcher: Arc<Dispatcher>,
}

impl EgressRows {
    /// Writes rows until the gate is gone.
    pub(crate) async fn keep(self, mut events: broadcast::Receiver<EgressEvent>) {
        let mut places: BTreeSet<(String, u16)> = BTreeSet::new();
        while places.len() < PLACES_MAX {
            let event = match events.recv().await {
                Ok(event) => event,
                // What was lost were repetitions most likely; the counters have them.
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            };
            let Verdict::Refused { why } = &event.verdict else { continue };
            if !places.insert((event.host.clone(), event.port)) {
                continue;
            }
            let detail = json!({"refused": {"host": event.host, "port": event.port, "kind": event.kind, "why": why.to_string()}});
            let record = Record {
                run: self.run.clone(),
                call: None,
                caller: "page".into(),
                tool: None,
                kind: Kind::Egress,
                detail: self.dispatcher.redactor.value(&detail),
            };
            if let Err(error) = self.dispatcher.journal.write(record).await {
                tracing::error!(%error, "the journal failed");
                return;
            }
        }
    }
}
