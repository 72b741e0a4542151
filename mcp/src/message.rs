//! Decodes messages of clients, and creates the errors that answer invalid messages.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Methods of the requests that the server answers. The list is needed because `rmcp` reports invalid parameters as an
/// unknown method.
const METHODS: [&str; 7] =
    ["initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list"];
/// Members that a message must not repeat.
const MEMBERS: [&str; 4] = ["jsonrpc", "id", "method", "params"];

/// Decodes a message. Returns `None` for a message that must not be answered, such as a malformed notification or
/// response.
///
/// # Errors
/// Returns the error to send if the text is not a message, or if a request has invalid parameters.
pub(crate) fn decode(text: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).trim_ascii();
    if text.is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
        Ok(message) if !has_invalid_parameters(&message) => Ok(Some(message)),
        _ => {
            let value = serde_json::from_slice(text).map_err(|error| {
                Refusal::new(Value::Null, ErrorCode::PARSE_ERROR, format!("the message is not JSON: {error}"))
            })?;
            refusal_for(&value, repeated_member(text)).map_or(Ok(None), Err)
        }
    }
}

fn has_invalid_parameters(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(&request.request, ClientRequest::CustomRequest(custom) if METHODS.contains(&custom.method.as_str()))
}

/// Returns the error to send for an HTTP request with this body, or `None` if the server can handle the message.
pub fn refusal(body: &[u8]) -> Option<Vec<u8>> {
    decode(body).err().map(|refusal| refusal.to_json())
}

/// Returns the first of [`MEMBERS`] that an object repeats.
fn repeated_member(text: &[u8]) -> Option<&'static str> {
    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only the error about a repeated member is used")]
    struct Members {
        jsonrpc: Option<IgnoredAny>,
        id: Option<IgnoredAny>,
        method: Option<IgnoredAny>,
        params: Option<IgnoredAny>,
    }

    let error = serde_json::from_slice::<Members>(text).err()?.to_string();
    MEMBERS.into_iter().find(|member| error.starts_with(&format!("duplicate field `{member}`")))
}

/// Returns the error to send for a value that is not a message, or for a request with invalid parameters. `repeated`
/// names a member that the message has more than once.
fn refusal_for(value: &Value, repeated: Option<&str>) -> Option<Refusal> {
    let invalid = |id: Value, reason: &str| Some(Refusal::new(id, ErrorCode::INVALID_REQUEST, reason));
    let message = match value {
        Value::Object(message) => message,
        Value::Array(_) => return invalid(Value::Null, "batches are not supported; send one message at a time"),
        _ => return invalid(Value::Null, "a message must be an object"),
    };
    let method = message.get("method");
    // Responses are not answered: two servers could otherwise answer each other endlessly.
    let has_answer = message.contains_key("result") || message.contains_key("error");
    if method.is_none() && has_answer {
        return None;
    }
    let id = match message.get("id") {
        _ if repeated == Some("id") => Value::Null,
        Some(id @ Value::String(_)) => id.clone(),
        Some(id @ Value::Number(number)) if number.is_i64() => id.clone(),
        _ => Value::Null,
    };
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return invalid(id, "`jsonrpc` must be \"2.0\"");
    }
    match method {
        None => invalid(id, "the message has no `method`"),
        Some(Value::String(name)) => match (message.get("id"), repeated) {
            (None, _) => None,
            (Some(_), Some(member)) => invalid(id, &format!("the message has more than one `{member}`")),
            (Some(_), None) if id.is_null() => invalid(id, "an `id` must be a string or an integer"),
            (Some(_), None) if METHODS.contains(&name.as_str()) && !has_answer => {
                Some(Refusal::new(id, ErrorCode::INVALID_PARAMS, format!("the parameters of `{name}` are malformed")))
            }
            (Some(_), None) => invalid(id, "the request is malformed"),
        },
        Some(_) => invalid(id, "a `method` must be a string"),
    }
}

/// An error that answers an invalid message.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The id of the request, or null if it is missing or cannot be read.
    id: Value,
    code: ErrorCode,
    reason: String,
}

impl Refusal {
    pub(crate) fn new(id: Value, code: ErrorCode, reason: impl Into<String>) -> Self {
        Self { id, code, reason: reason.into() }
    }

    /// Formats the error as JSON on one line. `rmcp` would omit a null id, which JSON-RPC requires.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let error = json!({"code": self.code.0, "message": self.reason});
        json!({"jsonrpc": "2.0", "id": self.id, "error": error}).to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: impl AsRef<[u8]>, id: &Value, code: i32) {
        let text = text.as_ref();
        let shown = String::from_utf8_lossy(&text[..text.len().min(80)]).into_owned();
        let Err(refusal) = decode(text) else { panic!("{shown} is accepted") };
        assert_eq!((&refusal.id, refusal.code.0), (id, code), "{shown}: {}", refusal.reason);
    }

    #[test]
    fn invalid_messages_are_answered_with_their_error_code() {
        let null = &Value::Null;
        for text in ["{", "nonsense", "{\"jsonrpc\": \"2.0\",}", "{\"id\": 1} {\"id\": 2}", "\u{0}"] {
            check(text, null, -32700);
        }
        check(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", null, -32700);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        check(&deep, null, -32700);
        check(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}}}"#), null, -32700);
        for text in ["[]", "[1]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "1", "null", "\"ping\"", "{}"] {
            check(text, null, -32600);
        }
        for (text, id) in [
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7)),
            (r#"{"id":7,"method":"ping"}"#, json!(7)),
            (r#"{"jsonrpc":2.0,"id":"a","method":"ping"}"#, json!("a")),
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":7,"params":{}}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":7,"method":1}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","method":1}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"status"}}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":1,"id":null,"method":"unknown"}"#, json!(null)),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":7,"method":"ping"}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"status"},"params":{}}"#, json!(7)),
        ] {
            check(text, &id, -32600);
        }
        for params in [r#""x""#, "[]", "{}", r#"{"name": 7}"#, r#"{"name": "search", "arguments": "x"}"#] {
            check(format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#), &json!(7), -32602);
        }
        check(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#, &json!(7), -32602);
    }

    #[test]
    fn neither_answers_nor_notifications_are_answered() {
        for text in [
            "",
            " \r",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":[],"result":{}}"#,
            r#"{"error":"no"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        ] {
            assert!(decode(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn valid_messages_are_decoded() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\"}\r",
            r#"{"jsonrpc":"2.0","id":1,"method":"unknown/method","params":{"a":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ] {
            assert!(matches!(decode(text.as_bytes()), Ok(Some(_))), "{text}");
        }
    }
}
