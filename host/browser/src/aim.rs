//! From a target to a point that can be pressed: one round trip to the page script in the common case.
//!
//! The script of the target's document finds the element, waits until it can be acted on, and says where to press. A point inside
//! a foreign frame is carried outwards, frame by frame: each parent's script brings it into view, says where it is in its own
//! window, and checks that nothing lies over it. For that the parent has to know which of its elements the frame is
//! ([`Inner::mark_frames`]).
//!
//! Not here: what is done at the point.

use std::{sync::Arc, time::Duration};

use chromiumoxide_cdp::cdp::{
    browser_protocol::{
        dom::{BackendNodeId, GetFrameOwnerParams, ResolveNodeParams},
        page::FrameId as CdpFrameId,
    },
    js_protocol::runtime::{CallArgument, CallFunctionOnParams, EvaluateParams, ExecutionContextId},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::Instant;
use transom_verbs::{Call, Target, ToolError, error::Reason, limits::ACTIONABLE_WITHIN};

use crate::{
    browser::{Inner, TabView},
    cdp::{CallError, Reply, Session},
    failure,
    frames::{FrameId, ScriptContext},
    page::{self, Evaluated, PageFault},
    refs,
    world::Look,
};

/// Frames inside frames that a point is carried through.
const DEPTH_MAX: usize = 16;

/// What the target is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Purpose {
    /// It is pressed.
    Click,
    /// It is typed into.
    Type,
    /// Files are set on it.
    File,
    /// It is only looked at.
    Read,
    /// It is brought into view.
    Scroll,
}

/// An element that was found, and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    /// The script that found it, which still holds it.
    pub(crate) context: ScriptContext,
    /// The frame of that script.
    pub(crate) frame: FrameId,
    /// The point to press, in the tab's viewport.
    pub(crate) x: f64,
    /// The same, downwards.
    pub(crate) y: f64,
    pub(crate) found: Found,
}

/// What the script says of an element.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Found {
    x: f64,
    y: f64,
    #[serde(default, rename = "type")]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) describe: String,
    /// The element's box in the script's window.
    #[serde(default)]
    pub(crate) rect: Option<Rect>,
    /// The foreign frame at the point.
    #[serde(default)]
    frame: Option<String>,
}

impl Found {
    /// Whether it is a point inside a foreign frame, which only that frame's script could tell more of.
    pub(crate) fn is_foreign_point(&self) -> bool {
        self.frame.is_some()
    }
}

/// A box's size, in CSS pixels.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Rect {
    pub(crate) width: f64,
    pub(crate) height: f64,
}

#[derive(Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Deserialize)]
struct FrameBox {
    x: f64,
    y: f64,
    scale: f64,
}

/// How long a call's target may take to become actionable.
pub(crate) fn actionable_until(call: &Call, deadline: Instant) -> Instant {
    let within = call.timeout.unwrap_or(ACTIONABLE_WITHIN);
    Inner::last_words(deadline).min(Instant::now() + within)
}

fn milliseconds_until(time: Instant) -> u64 {
    u64::try_from(time.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(u64::MAX)
}

/// A target as the script takes it.
pub(crate) fn target_json(target: &Target) -> Value {
    match target {
        Target::Ref(id) => json!({"ref": id.as_str()}),
        Target::Selector(css) => json!({"selector": css}),
        Target::Point { x, y } => json!({"x": x, "y": y}),
    }
}

/// The script that knows an element, and the frame that it is in.
pub(crate) struct Script {
    pub(crate) frame: FrameId,
    pub(crate) context: ScriptContext,
}

impl Inner {
    /// The script that has to be asked for a target.
    pub(crate) async fn script_for(&self, tab: &TabView, target: Option<&Target>) -> Result<Script, ToolError> {
        let Some(Target::Ref(id)) = target else {
            return self.script_of(tab, &tab.frame).await;
        };
        let home = self.refs.home_of(id)?;
        self.shared.look(|world| {
            let context = world.frames.get(&home.frame).and_then(|frame| frame.page_script.clone());
            let context = context.filter(|context| context.unique == home.context).ok_or_else(|| refs::stale(id))?;
            let main = world.main_frame_of(home.frame.as_str());
            if main.as_ref() != Some(&tab.frame) {
                let other = main.and_then(|main| world.tabs.with_frame(&main).map(|tab| tab.id.clone()));
                let error = ToolError::failed(Reason::NotFound, format!("{id} is an element of another tab"));
                return Err(match other {
                    Some(other) => error.with_hint(format!("pass `tab`: \"{other}\"")),
                    None => error,
                });
            }
            Ok(Script { frame: home.frame, context })
        })
    }

    /// The script in a frame, as soon as it is there.
    pub(crate) async fn script_of(&self, tab: &TabView, frame: &FrameId) -> Result<Script, ToolError> {
        let waiting = self.shared.until(|world| {
            match world.tabs.with_frame(&tab.frame) {
                None => return Look::Ready(Err(ToolError::from(CallError::Closed))),
                Some(tab) if tab.is_crashed => return Look::Ready(Err(failure::crashed())),
                Some(tab) => {
                    if let Some(dialog) = &tab.dialog {
                        return Look::Ready(Err(failure::dialog_open(&dialog.message)));
                    }
                }
            }
            match world.frames.get(frame) {
                None => Look::Ready(Err(failure::moved_on())),
                Some(known) => match &known.page_script {
                    Some(context) => Look::Ready(Ok(Script { frame: frame.clone(), context: context.clone() })),
                    None => Look::Later,
                },
            }
        });
        waiting.await?
    }

    /// Calls the script; ends early when a dialog opens on the tab, because then no answer comes.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        tab: &TabView,
        context: &ScriptContext,
        function: &str,
        arguments: &impl Serialize,
    ) -> Result<T, PageFault> {
        let call = page::call(&self.connection, context, function, arguments);
        tokio::select! {
            biased;
            answer = call => answer,
            dialog = self.dialog_on(tab) => Err(PageFault::Refused(failure::dialog_open(&dialog?.message))),
        }
    }

    /// Waits for an answer of the renderer; a dialog that opens on the tab ends the wait, because then none comes.
    pub(crate) async fn answer_of(
        &self,
        tab: &TabView,
        reply: Reply,
    ) -> Result<Result<bytes::Bytes, CallError>, ToolError> {
        tokio::select! {
            biased;
            answer = reply => Ok(answer),
            dialog = self.dialog_on(tab) => Err(failure::dialog_open(&dialog?.message)),
        }
    }

    /// Resolves when a dialog waits on the tab.
    pub(crate) async fn dialog_on(&self, tab: &TabView) -> Result<crate::dialogs::WaitingDialog, CallError> {
        self.shared
            .until(|world| match world.tabs.with_frame(&tab.frame).and_then(|tab| tab.dialog.clone()) {
                Some(dialog) => Look::Ready(dialog),
                None => Look::Later,
            })
            .await
    }

    /// Finds the target, waits until it can be acted on, and says where.
    ///
    /// # Errors
    /// The contract's reasons, the one that held last when `until` passed.
    pub(crate) async fn aim(
        &self,
        tab: &TabView,
        target: &Target,
        purpose: Purpose,
        until: Instant,
    ) -> Result<Aim, ToolError> {
        loop {
            let script = self.script_for(tab, Some(target)).await?;
            match self.aim_in(tab, &script, &target_json(target), purpose, until).await {
                Ok(aim) => return Ok(aim),
                // A ref belongs to the document that is going; a selector is as good for the next one.
                Err(PageFault::Gone) => match target {
                    Target::Ref(id) => return Err(refs::stale(id)),
                    _ if Instant::now() >= until => return Err(failure::moved_on()),
                    _ => self.script_change(tab, &script).await?,
                },
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    /// Waits until the frame has another script than this one, or none.
    pub(crate) async fn script_change(&self, tab: &TabView, script: &Script) -> Result<(), ToolError> {
        // Chromium tells of the end of a context before or right after it fails the calls in it.
        const GRACE: Duration = Duration::from_millis(100);
        let until = Instant::now() + GRACE;
        let waiting = self.shared.until(|world| {
            let now = world.frames.get(&script.frame).and_then(|frame| frame.page_script.as_ref());
            let is_same = now.is_some_and(|context| context.unique == script.context.unique);
            let is_there = world.tabs.with_frame(&tab.frame).is_some();
            if is_same && is_there && Instant::now() < until { Look::At(until) } else { Look::Ready(()) }
        });
        Ok(waiting.await?)
    }

    /// [`Inner::aim`] with the script of one frame.
    pub(crate) async fn aim_in(
        &self,
        tab: &TabView,
        script: &Script,
        target: &Value,
        purpose: Purpose,
        until: Instant,
    ) -> Result<Aim, PageFault> {
        let arguments = json!({"target": target, "purpose": purpose, "deadline_ms": milliseconds_until(until)});
        let found: Found = self.ask(tab, &script.context, "locate", &arguments).await?;
        if let Some(inner) = &found.frame
            && purpose != Purpose::Click
        {
            let inner = FrameId::from(inner.as_str());
            let outer: FrameBox =
                self.ask(tab, &script.context, "frameRect", &json!({"frame": inner.as_str()})).await?;
            let inner = self.script_of(tab, &inner).await.map_err(PageFault::Refused)?;
            let point = json!({"x": (found.x - outer.x) / outer.scale, "y": (found.y - outer.y) / outer.scale});
            return Box::pin(self.aim_in(tab, &inner, &point, purpose, until)).await;
        }
        let (x, y) = match purpose {
            Purpose::Click | Purpose::Scroll => self.carry_out(tab, &script.frame, (found.x, found.y)).await?,
            Purpose::Type | Purpose::File | Purpose::Read => (found.x, found.y),
        };
        Ok(Aim { context: script.context.clone(), frame: script.frame.clone(), x, y, found })
    }

    /// A point of a frame's window as a point of the tab's.
    async fn carry_out(&self, tab: &TabView, frame: &FrameId, mut point: (f64, f64)) -> Result<(f64, f64), PageFault> {
        let mut at = frame.clone();
        for _ in 0..DEPTH_MAX {
            if at == tab.frame {
                return Ok(point);
            }
            let outer = self.shared.look(|world| {
                let parent = world.frames.get(&at)?.parent.clone()?;
                Some(world.script_root_of(&parent))
            });
            let Some(outer) = outer else { return Err(PageFault::Gone) };
            self.mark_frames(tab, std::slice::from_ref(&at)).await.map_err(PageFault::Refused)?;
            let script = self.script_of(tab, &outer).await.map_err(PageFault::Refused)?;
            let arguments = json!({"frame": at.as_str(), "x": point.0, "y": point.1});
            let shown: Point = self.ask(tab, &script.context, "frameShow", &arguments).await?;
            point = (shown.x, shown.y);
            at = outer;
        }
        Err(PageFault::Refused(ToolError::failed(Reason::NotVisible, "the frames are nested too deeply")))
    }

    /// Tells the scripts of the parents which of their elements these frames are, where they don't know yet.
    pub(crate) async fn mark_frames(&self, tab: &TabView, frames: &[FrameId]) -> Result<(), ToolError> {
        for frame in frames {
            let parent = self.shared.look(|world| {
                let known = world.frames.get(frame)?;
                let outer = world.script_root_of(known.parent.as_ref()?);
                // The element is in the document of the nearest parent; its script is that of the parent's root.
                let context = world.frames.get(&outer)?.page_script.clone()?;
                (known.document.marked_in.as_ref() != Some(&context.unique)).then_some(context)
            });
            let Some(context) = parent else { continue };
            match self.mark_frame(tab, frame, &context).await {
                Ok(()) => {
                    let unique: Arc<str> = context.unique.clone();
                    self.shared.look(|world| {
                        if let Some(known) = world.frames.get_mut(frame) {
                            known.document.marked_in = Some(unique);
                        }
                    });
                }
                // The frame is going, or its parent is: nobody will miss the mark.
                Err(CallError::Refused { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn mark_frame(&self, tab: &TabView, frame: &FrameId, context: &ScriptContext) -> Result<(), CallError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Owner {
            backend_node_id: i64,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Resolved {
            object: ObjectId,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ObjectId {
            object_id: Option<String>,
        }
        let session = Session::target(self.connection.clone(), context.session.clone());
        let owner = session.send(&GetFrameOwnerParams::new(CdpFrameId::new(frame.as_str())));
        let owner: Owner = self.unless_dialog(tab, owner).await?;
        let resolve = ResolveNodeParams {
            backend_node_id: Some(BackendNodeId::new(owner.backend_node_id)),
            execution_context_id: Some(ExecutionContextId::new(context.number)),
            ..ResolveNodeParams::default()
        };
        let resolved: Resolved = self.unless_dialog(tab, session.send(&resolve)).await?;
        let Some(object) = resolved.object.object_id else { return Ok(()) };
        let mut mark = CallFunctionOnParams::new("function(id) { return __transom.markFrame(this, id) }");
        mark.object_id = Some(object.into());
        mark.arguments = Some(vec![CallArgument { value: Some(frame.as_str().into()), ..CallArgument::default() }]);
        mark.return_by_value = Some(true);
        mark.silent = Some(true);
        let _: serde::de::IgnoredAny = self.unless_dialog(tab, session.send(&mark)).await?;
        Ok(())
    }

    async fn unless_dialog<T: DeserializeOwned>(&self, tab: &TabView, reply: Reply) -> Result<T, CallError> {
        tokio::select! {
            biased;
            answer = reply.parsed() => answer,
            dialog = self.dialog_on(tab) => {
                let message = dialog?.message;
                Err(CallError::Refused { method: "dialog".into(), code: 0, message })
            }
        }
    }

    /// The element that `aim` found, as an object for commands that take one. It lives as long as its document.
    pub(crate) async fn object_of(&self, tab: &TabView, aim: &Aim) -> Result<String, ToolError> {
        let mut command = EvaluateParams::new("__transom.take()");
        command.unique_context_id = Some(aim.context.unique.to_string());
        let session = Session::target(self.connection.clone(), aim.context.session.clone());
        let answer = self.answer_of(tab, session.send(&command)).await?.map_err(ToolError::from)?;
        let answer: Evaluated<serde::de::IgnoredAny> =
            serde_json::from_slice(&answer).map_err(|_| failure::moved_on())?;
        answer.result.object_id.ok_or_else(failure::moved_on)
    }
}
