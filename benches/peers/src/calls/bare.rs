//! The floor: `reqwest`, typed JSON both ways, and the next URL if one fails.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::{Invoice, SYSTEM, TEXT, decode, schema};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    response_format: &'a Value,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Deserialize)]
struct Reply {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Content,
}

#[derive(Deserialize)]
struct Content {
    content: Option<String>,
}

struct Bare {
    http: reqwest::Client,
    urls: [String; 2],
    format: Value,
    check: Option<jsonschema::Validator>,
}

pub fn client(urls: [String; 2], check: bool) -> impl Fn() -> super::client::Answer {
    let format = json!({"type": "json_schema", "json_schema": {"name": "invoice", "schema": schema(), "strict": true}});
    let check = check.then(|| jsonschema::validator_for(&schema()).expect("a schema"));
    let urls = urls.map(|url| format!("{url}/v1/chat/completions"));
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let bare = Arc::new(Bare { http, urls, format, check });
    move || {
        let bare = Arc::clone(&bare);
        Box::pin(async move {
            let mut last = String::new();
            for url in &bare.urls {
                match bare.ask(url).await {
                    Ok(invoice) => return Ok(invoice),
                    Err(error) => last = error,
                }
            }
            Err(last)
        })
    }
}

impl Bare {
    async fn ask(&self, url: &str) -> Result<Invoice, String> {
        let message = |role, content| Message { role, content };
        let messages = [message("system", SYSTEM), message("user", TEXT)];
        let body = Body { model: "m", messages, response_format: &self.format };
        let sent =
            self.http.post(url).bearer_auth("key").json(&body).send().await.map_err(|e| e.to_string())?;
        let reply = sent.error_for_status().map_err(|e| e.to_string())?;
        let reply: Reply = reply.json().await.map_err(|e| e.to_string())?;
        let text =
            reply.choices.into_iter().next().and_then(|choice| choice.message.content).ok_or("empty")?;
        let Some(check) = &self.check else { return decode(&text) };
        let value: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        if !check.is_valid(&value) {
            return Err("against the schema".into());
        }
        serde_json::from_value(value).map_err(|e| e.to_string())
    }
}
