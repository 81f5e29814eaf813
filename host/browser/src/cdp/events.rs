//! The events that this crate listens to, decoded into just what is used of them.
//!
//! [`Event::decode`] is asked for every event and looks at the method first, so what nobody listens to is never parsed. Every
//! field that is not needed to release something may be missing or new: a frame type, a resource type or a dialog kind that a
//! later Chromium adds is kept as text, never an error.
//!
//! Not here: what an event changes (`world.rs` and the files that it hands to).

use std::borrow::Cow;

use serde::Deserialize;

/// Declares the events: the variant, its struct, and the method that it is decoded from.
macro_rules! events {
    ($($(#[$meta:meta])* $variant:ident = $method:literal { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub(crate) struct $variant<'a> {
                $($(#[$field_meta])* pub(crate) $field: $type,)*
                #[serde(skip)]
                _borrow: std::marker::PhantomData<&'a ()>,
            }
        )*

        /// An event that somebody listens to.
        #[derive(Debug)]
        pub(crate) enum Event<'a> { $(#[doc = $method] $variant($variant<'a>),)* }

        impl<'a> Event<'a> {
            /// The event that `method` and `params` are. `None`: nobody listens to it; an error: it is not of the form that its
            /// method has.
            pub(crate) fn decode(method: &str, params: &'a str) -> Option<serde_json::Result<Event<'a>>> {
                match method {
                    $($method => Some(serde_json::from_str(params).map(Event::$variant)),)*
                    _ => None,
                }
            }
        }
    };
}

/// A text of Chromium's that is only looked at.
type Text<'a> = Cow<'a, str>;

/// What a target is, as far as it matters here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetInfo<'a> {
    #[serde(borrow)]
    pub(crate) target_id: Text<'a>,
    #[serde(borrow, rename = "type", default)]
    pub(crate) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) url: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) subtype: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(crate) opener_id: Option<Text<'a>>,
}

/// A request, as far as a decision needs it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RequestInfo<'a> {
    #[serde(borrow, default)]
    pub(crate) url: Text<'a>,
}

/// A header of a response.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A committed document of a frame.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameInfo<'a> {
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) parent_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(crate) loader_id: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) url: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) url_fragment: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(crate) security_origin: Text<'a>,
}

/// A script context.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextInfo<'a> {
    pub(crate) id: i64,
    #[serde(borrow)]
    pub(crate) unique_id: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) name: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) aux_data: ContextFrame<'a>,
}

/// Which frame a context is in, and whether it is the page's own.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextFrame<'a> {
    #[serde(default)]
    pub(crate) is_default: bool,
    #[serde(borrow, default)]
    pub(crate) frame_id: Option<Text<'a>>,
}

/// A response, as far as a result tells of it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResponseInfo<'a> {
    #[serde(borrow, default)]
    pub(crate) url: Text<'a>,
    #[serde(default)]
    pub(crate) status: i64,
    #[serde(borrow, default)]
    pub(crate) mime_type: Text<'a>,
}

events! {
    AttachedToTarget = "Target.attachedToTarget" {
        #[serde(borrow)] session_id: Text<'a>,
        #[serde(borrow)] target_info: TargetInfo<'a>,
    }
    DetachedFromTarget = "Target.detachedFromTarget" {
        #[serde(borrow)] session_id: Text<'a>,
    }
    TargetCrashed = "Inspector.targetCrashed" {}
    TargetReloadedAfterCrash = "Inspector.targetReloadedAfterCrash" {}

    RequestPaused = "Fetch.requestPaused" {
        #[serde(borrow)] request_id: Text<'a>,
        #[serde(borrow, default)] request: RequestInfo<'a>,
        #[serde(borrow, default)] frame_id: Option<Text<'a>>,
        #[serde(default)] response_status_code: Option<i64>,
        #[serde(borrow, default)] response_error_reason: Option<Text<'a>>,
        #[serde(default)] response_headers: Option<Vec<Header>>,
    }

    FrameAttached = "Page.frameAttached" {
        #[serde(borrow)] frame_id: Text<'a>,
        #[serde(borrow)] parent_frame_id: Text<'a>,
    }
    FrameDetached = "Page.frameDetached" {
        #[serde(borrow)] frame_id: Text<'a>,
        #[serde(borrow, default)] reason: Text<'a>,
    }
    FrameNavigated = "Page.frameNavigated" {
        #[serde(borrow)] frame: FrameInfo<'a>,
    }
    NavigatedWithinDocument = "Page.navigatedWithinDocument" {
        #[serde(borrow)] frame_id: Text<'a>,
        #[serde(borrow, default)] url: Text<'a>,
    }
    FrameScheduledNavigation = "Page.frameScheduledNavigation" {
        #[serde(borrow)] frame_id: Text<'a>,
        #[serde(default)] delay: f64,
    }
    FrameClearedScheduledNavigation = "Page.frameClearedScheduledNavigation" {
        #[serde(borrow)] frame_id: Text<'a>,
    }
    FrameRequestedNavigation = "Page.frameRequestedNavigation" {
        #[serde(borrow)] frame_id: Text<'a>,
        #[serde(borrow, default)] disposition: Text<'a>,
    }
    FrameStartedNavigating = "Page.frameStartedNavigating" {
        #[serde(borrow)] frame_id: Text<'a>,
        #[serde(borrow, default)] loader_id: Text<'a>,
        #[serde(borrow, default)] navigation_type: Text<'a>,
    }
    LifecycleEvent = "Page.lifecycleEvent" {
        #[serde(borrow)] frame_id: Text<'a>,
        #[serde(borrow, default)] loader_id: Text<'a>,
        #[serde(borrow, default)] name: Text<'a>,
    }
    DialogOpening = "Page.javascriptDialogOpening" {
        #[serde(borrow, default, rename = "type")] kind: Text<'a>,
        #[serde(borrow, default)] message: Text<'a>,
        #[serde(borrow, default)] default_prompt: Option<Text<'a>>,
    }
    DialogClosed = "Page.javascriptDialogClosed" {}
    FileChooserOpened = "Page.fileChooserOpened" {
        #[serde(default)] backend_node_id: Option<i64>,
    }

    ContextCreated = "Runtime.executionContextCreated" {
        #[serde(borrow)] context: ContextInfo<'a>,
    }
    ContextDestroyed = "Runtime.executionContextDestroyed" {
        execution_context_id: i64,
    }
    ContextsCleared = "Runtime.executionContextsCleared" {}
    BindingCalled = "Runtime.bindingCalled" {
        #[serde(borrow, default)] name: Text<'a>,
        execution_context_id: i64,
    }

    RequestWillBeSent = "Network.requestWillBeSent" {
        #[serde(borrow)] request_id: Text<'a>,
        #[serde(borrow, default, rename = "type")] kind: Text<'a>,
    }
    ResponseReceived = "Network.responseReceived" {
        #[serde(borrow)] request_id: Text<'a>,
        #[serde(borrow, default)] loader_id: Text<'a>,
        #[serde(borrow, default)] frame_id: Option<Text<'a>>,
        #[serde(borrow, default)] response: ResponseInfo<'a>,
    }
    LoadingFinished = "Network.loadingFinished" {
        #[serde(borrow)] request_id: Text<'a>,
    }
    LoadingFailed = "Network.loadingFailed" {
        #[serde(borrow)] request_id: Text<'a>,
        #[serde(borrow, default)] error_text: Text<'a>,
    }

    DownloadWillBegin = "Browser.downloadWillBegin" {
        #[serde(borrow)] guid: Text<'a>,
        #[serde(borrow, default)] frame_id: Text<'a>,
        #[serde(borrow, default)] url: Text<'a>,
        #[serde(borrow, default)] suggested_filename: Text<'a>,
    }
    DownloadProgress = "Browser.downloadProgress" {
        #[serde(borrow)] guid: Text<'a>,
        #[serde(borrow, default)] state: Text<'a>,
    }
}

/// The id of the request in the params of a `Fetch.requestPaused` that is not of the expected form.
pub(crate) fn request_id_of(params: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct OnlyId {
        request_id: String,
    }
    serde_json::from_str::<OnlyId>(params).ok().map(|only| only.request_id)
}

/// The new session in the params of a `Target.attachedToTarget` that is not of the expected form.
pub(crate) fn session_id_of(params: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct OnlyId {
        session_id: String,
    }
    serde_json::from_str::<OnlyId>(params).ok().map(|only| only.session_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_listens_to_is_not_parsed() {
        assert!(Event::decode("Network.dataReceived", "not even JSON").is_none());
        assert!(Event::decode("Page.frameAttached", "not even JSON").unwrap().is_err());
    }

    #[test]
    fn values_that_a_later_chromium_adds_are_no_errors() {
        let params = r#"{"sessionId":"S","targetInfo":{"targetId":"T","type":"hologram","title":"","url":"x:y","attached":true,"new":[]},"waitingForDebugger":true}"#;
        let Some(Ok(Event::AttachedToTarget(event))) = Event::decode("Target.attachedToTarget", params) else {
            panic!()
        };
        assert_eq!((&*event.session_id, &*event.target_info.kind), ("S", "hologram"));

        let params = r#"{"requestId":"r","request":{"url":"http://a/\u00e9","method":"GET","priority":"Sometime"},"frameId":"F","resourceType":"Thought"}"#;
        let Some(Ok(Event::RequestPaused(event))) = Event::decode("Fetch.requestPaused", params) else { panic!() };
        assert_eq!((&*event.request_id, &*event.request.url), ("r", "http://a/é"));
    }

    #[test]
    fn an_event_that_holds_something_still_gives_its_id_when_the_rest_is_strange() {
        assert_eq!(request_id_of(r#"{"requestId":"r","request":7}"#).as_deref(), Some("r"));
        assert_eq!(session_id_of(r#"{"sessionId":"S","targetInfo":null}"#).as_deref(), Some("S"));
    }
}
