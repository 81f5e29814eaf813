//! Lines for the operator; the model never sees them.

use crate::bindings::transom::plugin::log::{Level, write};

/// Details for whoever works on the plugin.
pub fn debug(line: impl AsRef<str>) {
    write(Level::Debug, line.as_ref());
}

/// What happened.
pub fn info(line: impl AsRef<str>) {
    write(Level::Info, line.as_ref());
}

/// Something that was not as expected and was coped with.
pub fn warn(line: impl AsRef<str>) {
    write(Level::Warn, line.as_ref());
}

/// Something that an operator should look at.
pub fn error(line: impl AsRef<str>) {
    write(Level::Error, line.as_ref());
}
