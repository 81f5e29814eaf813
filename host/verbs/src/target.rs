//! How a call names the element or the point that it acts on.
//!
//! On the wire a target is one of `ref`, `selector`, or `x` and `y`, as plain arguments beside the verb's own. Inside it is
//! [`Target`], so that no code after parsing can see two of them, half a point or none where one is needed.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::{ids::RefId, limits::SELECTOR_BYTES_MAX};

/// What a call acts on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TargetFields", into = "TargetFields")]
pub enum Target {
    /// The element that this ref was given for.
    Ref(RefId),
    /// The first match of a CSS selector in document order, open shadow roots and same-origin frames included.
    Selector(String),
    /// A point of the viewport, in CSS pixels.
    Point {
        /// From the left edge.
        x: f64,
        /// From the top edge.
        y: f64,
    },
}

/// A target that a call may leave out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TargetFields", into = "TargetFields")]
pub struct OptionalTarget(pub Option<Target>);

/// The arguments on the wire.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct TargetFields {
    /// The element's ref, as a snapshot of this run shows it: `e12`. Give one of `ref`, `selector`, or `x` and `y`.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    element: Option<RefId>,
    /// A CSS selector: the first match in document order, open shadow roots and same-origin frames included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selector: Option<String>,
    /// A point of the viewport in CSS pixels, from the left; with `y`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    x: Option<f64>,
    /// A point of the viewport in CSS pixels, from the top; with `x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    y: Option<f64>,
}

/// A set of arguments that is no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// None was given where one is needed.
    #[error("no target: give one of `ref`, `selector`, or `x` and `y`")]
    Missing,
    /// More than one was given.
    #[error("more than one target: give only one of `ref`, `selector`, or `x` and `y`")]
    Several,
    /// `x` without `y`, or the other way round.
    #[error("half a point: `x` and `y` go together")]
    HalfPoint,
    /// A coordinate that is not a number of pixels.
    #[error("`x` and `y` are CSS pixels of the viewport, between 0 and 100000")]
    Coordinate,
    /// An empty selector, or one that is too long.
    #[error("`selector` has to have between 1 and {SELECTOR_BYTES_MAX} bytes")]
    SelectorLength,
}

/// The largest coordinate, in CSS pixels: beyond the largest viewport that can be set by a factor of ten.
const COORDINATE_MAX: f64 = 100_000.0;

impl TryFrom<TargetFields> for OptionalTarget {
    type Error = TargetError;

    fn try_from(fields: TargetFields) -> Result<OptionalTarget, TargetError> {
        let point = match (fields.x, fields.y) {
            (None, None) => None,
            (Some(x), Some(y)) => {
                let in_range = |c: f64| (0.0..=COORDINATE_MAX).contains(&c);
                if !in_range(x) || !in_range(y) {
                    return Err(TargetError::Coordinate);
                }
                Some(Target::Point { x, y })
            }
            _ => return Err(TargetError::HalfPoint),
        };
        let selector = match fields.selector {
            Some(text) if text.trim().is_empty() || text.len() > SELECTOR_BYTES_MAX => {
                return Err(TargetError::SelectorLength);
            }
            other => other.map(Target::Selector),
        };
        let mut given = [fields.element.map(Target::Ref), selector, point].into_iter().flatten();
        let first = given.next();
        if given.next().is_some() { Err(TargetError::Several) } else { Ok(OptionalTarget(first)) }
    }
}

impl TryFrom<TargetFields> for Target {
    type Error = TargetError;

    fn try_from(fields: TargetFields) -> Result<Target, TargetError> {
        OptionalTarget::try_from(fields)?.0.ok_or(TargetError::Missing)
    }
}

impl From<Target> for TargetFields {
    fn from(target: Target) -> TargetFields {
        match target {
            Target::Ref(id) => TargetFields { element: Some(id), ..TargetFields::default() },
            Target::Selector(css) => TargetFields { selector: Some(css), ..TargetFields::default() },
            Target::Point { x, y } => TargetFields { x: Some(x), y: Some(y), ..TargetFields::default() },
        }
    }
}

impl From<OptionalTarget> for TargetFields {
    fn from(target: OptionalTarget) -> TargetFields {
        target.0.map(TargetFields::from).unwrap_or_default()
    }
}

macro_rules! schema_of_fields {
    ($name:ident) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                TargetFields::json_schema(generator)
            }
        }
    };
}
schema_of_fields!(Target);
schema_of_fields!(OptionalTarget);

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Ref(id) => write!(f, "ref {id}"),
            Target::Selector(css) => write!(f, "selector `{css}`"),
            Target::Point { x, y } => write!(f, "the point {x},{y}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn parse(value: Value) -> Result<Target, String> {
        from_value(value).map_err(|e| e.to_string())
    }

    #[test]
    fn exactly_one_target_is_taken() {
        assert_eq!(parse(json!({"ref": "e1"})), Ok(Target::Ref(RefId::parse("e1").unwrap())));
        assert_eq!(parse(json!({"selector": "#go"})), Ok(Target::Selector("#go".into())));
        assert_eq!(parse(json!({"x": 1, "y": 2.5})), Ok(Target::Point { x: 1.0, y: 2.5 }));
        assert_eq!(parse(json!({})), Err(TargetError::Missing.to_string()));
        assert_eq!(parse(json!({"ref": "e1", "selector": "#go"})), Err(TargetError::Several.to_string()));
        assert_eq!(parse(json!({"x": 1})), Err(TargetError::HalfPoint.to_string()));
        assert_eq!(parse(json!({"x": -1, "y": 1})), Err(TargetError::Coordinate.to_string()));
        assert_eq!(parse(json!({"selector": " "})), Err(TargetError::SelectorLength.to_string()));
        assert_eq!(from_value::<OptionalTarget>(json!({})).unwrap(), OptionalTarget(None));
    }
}
