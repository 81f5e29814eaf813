//! JSON Schemas of inputs and results, in the form that tool-calling clients take: one flat object, nothing nested by reference.

use schemars::{JsonSchema, generate::SchemaSettings, transform::RestrictFormats};
use serde_json::{Map, Value, json};

use crate::limits::TIMEOUT_MS_MAX;

fn object_of<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.transforms.push(Box::new(RestrictFormats::default()));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let Value::Object(mut object) = schema.to_value() else { return Map::new() };
    object.remove("title");
    object.remove("description");
    simplify(&mut object);
    object
}

/// Takes out what only costs tokens: `format` of integers, `null` as a type of what may be left out, and defaults of null.
fn simplify(object: &mut Map<String, Value>) {
    object.remove("format");
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|each| each != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(any)) = object.get("anyOf") {
        let real: Vec<&Value> = any.iter().filter(|each| each.get("type") != Some(&json!("null"))).collect();
        if let [Value::Object(only)] = real.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    for (keyword, value) in object.iter_mut() {
        match value {
            // Here the keys are names of properties, which may be `format` or `type` themselves.
            Value::Object(properties) if keyword == "properties" => properties.values_mut().for_each(simplify_value),
            value => simplify_value(value),
        }
    }
}

fn simplify_value(value: &mut Value) {
    match value {
        Value::Object(object) => simplify(object),
        Value::Array(items) => items.iter_mut().for_each(simplify_value),
        _ => {}
    }
}

/// The schema of a verb's arguments: those of `T` and the two that every verb takes. Unknown arguments are refused.
#[must_use]
pub fn input<T: JsonSchema>() -> Value {
    let mut object = object_of::<T>();
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        properties.insert(
            "tab".into(),
            json!({"type": "string", "pattern": "^t[0-9]+$", "description": "The tab to act in; default: the active one."}),
        );
        properties.insert(
            "timeout_ms".into(),
            json!({"type": "integer", "minimum": 1, "maximum": TIMEOUT_MS_MAX, "description": "Give up after this many milliseconds."}),
        );
    }
    object.insert("type".into(), json!("object"));
    object.insert("additionalProperties".into(), json!(false));
    Value::Object(object)
}

/// The schema of a verb's result: that of `T` and the `state` that any result may carry.
#[must_use]
pub fn output<T: JsonSchema>() -> Value {
    let mut object = object_of::<T>();
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        let mut state = object_of::<crate::state::State>();
        state.insert("description".into(), json!("What changed since the last result; left out when nothing did."));
        properties.insert("state".into(), Value::Object(state));
    }
    object.insert("type".into(), json!("object"));
    Value::Object(object)
}
