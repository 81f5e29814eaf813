//! Bounds of arguments and results, each with its reason. A bound that a caller can hit is also in the argument's schema.

use std::time::Duration;

/// How long a call may take in all unless it says otherwise. Most pages load within five seconds; a caller that waits longer than
/// half a minute for one step is better served by an answer that it can act on.
pub const CALL_DEADLINE: Duration = Duration::from_secs(30);

/// The longest `timeout_ms` of a call, in milliseconds. Two minutes is past every sane page load and below the time after which MCP
/// clients give up on a request.
pub const TIMEOUT_MS_MAX: u32 = 120_000;

/// How long an action waits for its target to become actionable, in milliseconds, unless `timeout_ms` is shorter.
pub const ACTIONABLE_WITHIN: Duration = Duration::from_secs(5);

/// The longest plain `wait`, in milliseconds: the contract's figure.
pub const WAIT_MS_MAX: u32 = 30_000;

/// Longest text that one `snapshot` or `extract` returns unless `max_chars` says otherwise, in characters. At four a token, a tenth
/// of a 100k-token window: one page must not push the task out.
pub const TEXT_CHARS: u32 = 40_000;

/// The largest `max_chars`, in characters: four megabytes of text still fit a message of every transport in use.
pub const TEXT_CHARS_MAX: u32 = 1_000_000;

/// Longest text that one `type` call takes, in characters. A form field that needs more wants an upload.
pub const TYPE_CHARS_MAX: usize = 100_000;

/// Longest URL, in bytes: what Chromium itself navigates to (2 MB) is far beyond any server; the field's practical ceiling is 64 KiB.
pub const URL_BYTES_MAX: usize = 65_536;

/// Longest CSS selector, in bytes.
pub const SELECTOR_BYTES_MAX: usize = 4_096;

/// Longest script of `evaluate` or `wait`, in bytes.
pub const SCRIPT_BYTES_MAX: usize = 256 * 1024;

/// Largest JSON value that `evaluate` returns, in bytes of its text. Above it the call fails and says to return less.
pub const VALUE_BYTES_MAX: usize = 1024 * 1024;
