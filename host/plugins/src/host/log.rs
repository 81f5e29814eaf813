//! `log`: lines for the operator.

use wasmtime::Result;

use crate::{
    LogLevel,
    bindings::transom::plugin::log::{Host, Level},
    state::State,
};

impl Host for State {
    async fn write(&mut self, level: Level, line: String) -> Result<()> {
        let level = match level {
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        };
        self.log.write(level, &line);
        Ok(())
    }
}
