//! `screenshot`: a picture of the viewport, of one element or of the whole page, kept as a run file.

use base64::Engine as _;
use chromiumoxide_cdp::cdp::browser_protocol::page::{
    BringToFrontParams, CaptureScreenshotFormat, CaptureScreenshotParams, GetLayoutMetricsParams, Viewport,
};
use serde::Deserialize;
use tokio::time::Instant;
use transom_verbs::{
    Call, ToolError,
    error::Reason,
    verb::screenshot::{Format, Input, Output},
};

use crate::{
    aim::{Purpose, actionable_until},
    browser::{Inner, TabView},
    cdp::CallError,
    hooks::Picture,
};

/// The largest side of a picture, in pixels: what Chromium's compositor can draw at once.
const SIDE_MAX: f64 = 16_384.0;

/// Quality of a JPEG, in percent: text stays readable at a quarter of a PNG's size.
const JPEG_QUALITY: i64 = 80;

#[derive(Deserialize)]
struct Captured {
    data: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    css_content_size: Size,
    css_visual_viewport: Scroll,
}

#[derive(Deserialize)]
struct Size {
    width: f64,
    height: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scroll {
    page_x: f64,
    page_y: f64,
}

impl Inner {
    pub(crate) async fn screenshot(&self, call: &Call, input: &Input, deadline: Instant) -> Result<Output, ToolError> {
        if input.full_page && input.target.0.is_some() {
            return Err(ToolError::invalid("`full_page` and a target contradict each other: give one of them"));
        }
        let tab = self.ready_tab(call.tab.as_ref())?;
        let _turn = tab.turn.lock().await;
        self.readable(&tab, deadline).await?;
        self.bring_to_front(&tab).await?;
        let format = match input.format {
            Format::Png => CaptureScreenshotFormat::Png,
            Format::Jpeg => CaptureScreenshotFormat::Jpeg,
        };
        let mut command = CaptureScreenshotParams {
            format: Some(format),
            quality: (input.format == Format::Jpeg).then_some(JPEG_QUALITY),
            optimize_for_speed: Some(true),
            ..CaptureScreenshotParams::default()
        };
        if let Some(target) = &input.target.0 {
            let aim = self.aim(&tab, target, Purpose::Scroll, actionable_until(call, deadline)).await?;
            let rect = aim.found.rect.ok_or_else(crate::failure::moved_on)?;
            if rect.width < 1.0 || rect.height < 1.0 {
                return Err(ToolError::failed(Reason::NotVisible, format!("{} has no area", aim.found.describe)));
            }
            let scroll = self.metrics(&tab).await?.css_visual_viewport;
            // The box is in the script's window; the aim is its middle in the tab's.
            let (left, top) = (aim.x - rect.width / 2.0, aim.y - rect.height / 2.0);
            command.clip = Some(clip(left + scroll.page_x, top + scroll.page_y, rect.width, rect.height));
            command.capture_beyond_viewport = Some(true);
        } else if input.full_page {
            let size = self.metrics(&tab).await?.css_content_size;
            command.clip = Some(clip(0.0, 0.0, size.width, size.height));
            command.capture_beyond_viewport = Some(true);
        }
        let answer = self.answer_of(&tab, tab.session.send(&command)).await?.map_err(ToolError::from)?;
        let captured: Captured = serde_json::from_slice(&answer)
            .map_err(|error| CallError::Form { method: "Page.captureScreenshot".into(), problem: error.to_string() })?;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(captured.data)
            .map_err(|error| CallError::Form { method: "Page.captureScreenshot".into(), problem: error.to_string() })?;
        let (width, height) = size_of(&bytes).unwrap_or_default();
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let file = self.hooks.keep_screenshot(Picture { bytes, format: input.format, width, height }).await?;
        Ok(Output { file, width, height, size })
    }

    /// Chromium draws only the tab in front.
    async fn bring_to_front(&self, tab: &TabView) -> Result<(), ToolError> {
        if self.shared.look(|world| world.tabs.front.as_ref() == Some(&tab.id)) {
            return Ok(());
        }
        tab.session.call(&BringToFrontParams::default()).await?;
        self.shared.look(|world| world.tabs.front = Some(tab.id.clone()));
        Ok(())
    }

    async fn metrics(&self, tab: &TabView) -> Result<Metrics, ToolError> {
        let reply = tab.session.send(&GetLayoutMetricsParams::default());
        let answer = self.answer_of(tab, reply).await?.map_err(ToolError::from)?;
        serde_json::from_slice(&answer).map_err(|error| {
            CallError::Form { method: "Page.getLayoutMetrics".into(), problem: error.to_string() }.into()
        })
    }
}

/// A part of the page to draw, on whole pixels.
fn clip(x: f64, y: f64, width: f64, height: f64) -> Viewport {
    let (left, top) = (x.round().max(0.0), y.round().max(0.0));
    Viewport {
        x: left,
        y: top,
        width: width.round().clamp(1.0, SIDE_MAX),
        height: height.round().clamp(1.0, SIDE_MAX),
        scale: 1.0,
    }
}

/// Width and height of a PNG or a JPEG, from its own header.
fn size_of(picture: &[u8]) -> Option<(u32, u32)> {
    let four = |at: usize| Some(u32::from_be_bytes(picture.get(at..at + 4)?.try_into().ok()?));
    let two = |at: usize| Some(u32::from(u16::from_be_bytes(picture.get(at..at + 2)?.try_into().ok()?)));
    if picture.starts_with(b"\x89PNG") {
        return Some((four(16)?, four(20)?));
    }
    // A JPEG is a row of segments, each with its length; the size is in the first "start of frame".
    let mut at = 2;
    loop {
        let marker = *picture.get(at + 1)?;
        if matches!(marker, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf) {
            return Some((two(at + 7)?, two(at + 5)?));
        }
        at += 2 + usize::try_from(two(at + 2)?).ok()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pictures_size_is_in_its_header() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 5, 0, 0, 0, 2, 208]);
        assert_eq!(size_of(&png), Some((1280, 720)));
        let jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 0x02, 0xd0, 0x05, 0x00, 3];
        assert_eq!(size_of(&jpeg), Some((1280, 720)));
        assert_eq!(size_of(b"GIF89a"), None);
        assert_eq!(size_of(&[]), None);
    }

    #[test]
    fn a_part_is_drawn_on_whole_pixels_and_never_larger_than_chromium_can() {
        let part = clip(-3.0, 10.4, 99.6, 1e9);
        assert_eq!((part.x, part.y, part.width, part.height), (0.0, 10.0, 100.0, SIDE_MAX));
    }
}
