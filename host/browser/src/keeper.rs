//! The work that events leave behind: dialogs that nobody answers, downloads that are to be kept.
//!
//! One task does it for one browser. It ends when the browser does.

use std::sync::Arc;

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::{sync::mpsc, time::Instant};

use crate::{
    cdp::{Connection, SessionId},
    hooks::{FinishedDownload, Hooks},
    world::Shared,
};

/// Chores that may wait. Each is a dialog or a whole file, so this many at once are a page's mischief.
pub(crate) const CHORES: usize = 256;

/// Something to do later.
#[derive(Debug)]
pub(crate) enum Chore {
    /// Dismiss a dialog if it is still open then.
    DismissDialog { session: SessionId, opened_at: u64, at: Instant },
    /// Make a run file of a finished download.
    Keep(FinishedDownload),
}

/// Does the chores until the connection is lost.
pub(crate) async fn keep(
    mut chores: mpsc::Receiver<Chore>,
    connection: Connection,
    shared: Arc<Shared>,
    hooks: Arc<dyn Hooks>,
) {
    let mut running = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            () = connection.lost() => return,
            chore = chores.recv() => match chore {
                Some(chore) => running.push(attend(chore, &connection, &shared, &hooks)),
                None => return,
            },
            Some(()) = running.next(), if !running.is_empty() => {}
        }
    }
}

async fn attend(chore: Chore, connection: &Connection, shared: &Shared, hooks: &Arc<dyn Hooks>) {
    match chore {
        Chore::DismissDialog { session, opened_at, at } => {
            tokio::time::sleep_until(at).await;
            shared.change(|world| world.dismiss_unanswered(connection, &session, opened_at));
        }
        Chore::Keep(download) => {
            let guid = download.guid.clone();
            let kept = hooks.keep_download(download).await;
            shared.change(|world| world.downloads.settle(&guid, kept));
        }
    }
}
