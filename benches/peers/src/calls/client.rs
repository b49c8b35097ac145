//! The peers, each with a loop over two clients; their own retries are off.

use std::{future::Future, pin::Pin, sync::Arc};

use super::document::{Invoice, SYSTEM, TEXT, decode, schema};

pub type Answer = Pin<Box<dyn Future<Output = Result<Invoice, String>>>>;

/// A client's runtime, on the thread that is measured.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

pub fn async_openai(urls: [String; 2]) -> impl Fn() -> Answer {
    use async_openai::{Client, config::OpenAIConfig, middleware::ReqwestService, types::chat::*};
    let clients = Arc::new(urls.map(|url| {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let config = OpenAIConfig::new().with_api_base(format!("{url}/v1")).with_api_key("key");
        Client::build(http.clone(), config).with_http_service(ReqwestService::new(http))
    }));
    let schema = schema();
    move || {
        let (clients, schema) = (Arc::clone(&clients), schema.clone());
        Box::pin(async move {
            let format = ResponseFormatJsonSchema {
                name: "invoice".into(),
                description: None,
                schema,
                strict: Some(true),
            };
            let request = CreateChatCompletionRequestArgs::default()
                .model("m")
                .messages([
                    ChatCompletionRequestSystemMessage::from(SYSTEM).into(),
                    ChatCompletionRequestUserMessage::from(TEXT).into(),
                ])
                .response_format(ResponseFormat::JsonSchema { json_schema: format })
                .build()
                .map_err(text)?;
            let mut last = Err("no client".to_owned());
            for client in clients.iter() {
                last = match client.chat().create(request.clone()).await {
                    Ok(reply) => decode(
                        reply.choices.first().and_then(|c| c.message.content.as_deref()).unwrap_or_default(),
                    ),
                    Err(error) => Err(text(error)),
                };
                if last.is_ok() {
                    break;
                }
            }
            last
        })
    }
}

pub fn genai(urls: [String; 2]) -> impl Fn() -> Answer {
    use genai::{
        Client, ModelIden, ServiceTarget,
        adapter::AdapterKind,
        chat::{ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, JsonSpec},
        resolver::{AuthData, Endpoint, Error, ServiceTargetResolver},
    };
    let clients = Arc::new(urls.map(|url| {
        let resolve = move |target: ServiceTarget| -> Result<ServiceTarget, Error> {
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(format!("{url}/v1/")),
                auth: AuthData::from_single("key"),
                model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
            })
        };
        let resolver = ServiceTargetResolver::from_resolver_fn(resolve);
        Client::builder().with_service_target_resolver(resolver).build().expect("a client")
    }));
    let format = ChatResponseFormat::JsonSpec(JsonSpec::new("invoice", schema()));
    let options = Arc::new(ChatOptions::default().with_response_format(format));
    move || {
        let (clients, options) = (Arc::clone(&clients), Arc::clone(&options));
        Box::pin(async move {
            let request = ChatRequest::new(vec![ChatMessage::system(SYSTEM), ChatMessage::user(TEXT)]);
            let mut last = Err("no client".to_owned());
            for client in clients.iter() {
                last = match client.exec_chat("m", request.clone(), Some(&options)).await {
                    Ok(reply) => decode(reply.first_text().unwrap_or_default()),
                    Err(error) => Err(text(error)),
                };
                if last.is_ok() {
                    break;
                }
            }
            last
        })
    }
}

pub fn llm(urls: [String; 2]) -> impl Fn() -> Answer {
    use llm::{
        LLMProvider,
        builder::{LLMBackend, LLMBuilder},
        chat::{ChatMessage, StructuredOutputFormat},
    };
    let clients: Arc<[Box<dyn LLMProvider>; 2]> = Arc::new(urls.map(|url| {
        let schema = Some(schema());
        let format =
            StructuredOutputFormat { name: "invoice".into(), description: None, schema, strict: Some(true) };
        let builder =
            LLMBuilder::new().backend(LLMBackend::OpenAI).api_key("key").base_url(format!("{url}/v1/"));
        builder.model("m").system(SYSTEM).schema(format).build().expect("a client")
    }));
    move || {
        let clients = Arc::clone(&clients);
        Box::pin(async move {
            let messages = [ChatMessage::user().content(TEXT).build()];
            let mut last = Err("no client".to_owned());
            for client in clients.iter() {
                last = match client.chat(&messages).await {
                    Ok(reply) => decode(&reply.text().unwrap_or_default()),
                    Err(error) => Err(text(error)),
                };
                if last.is_ok() {
                    break;
                }
            }
            last
        })
    }
}

pub fn rstructor(urls: [String; 2]) -> impl Fn() -> Answer {
    use rstructor::{Instructor, LLMClient, OpenAIClient};
    use serde::{Deserialize, Serialize};

    // Its derive makes the schema, so the document is described once more.
    #[derive(Instructor, Debug, Clone, Serialize, Deserialize)]
    struct Line {
        sku: String,
        quantity: u32,
        price: f64,
    }
    #[derive(Instructor, Debug, Clone, Serialize, Deserialize)]
    struct Bill {
        number: String,
        vendor: String,
        date: String,
        currency: String,
        total: f64,
        paid: bool,
        items: Vec<Line>,
        notes: String,
    }
    impl From<Bill> for Invoice {
        fn from(bill: Bill) -> Self {
            let Bill { number, vendor, date, currency, total, paid, items, notes } = bill;
            let item = |Line { sku, quantity, price }| super::document::Item { sku, quantity, price };
            Self {
                number,
                vendor,
                date,
                currency,
                total,
                paid,
                items: items.into_iter().map(item).collect(),
                notes,
            }
        }
    }

    let clients = Arc::new(urls.map(|url| {
        let client = OpenAIClient::new("key").expect("a client");
        client.base_url(format!("{url}/v1")).model("m").max_retries(0)
    }));
    move || {
        let clients = Arc::clone(&clients);
        Box::pin(async move {
            let mut last = Err("no client".to_owned());
            for client in clients.iter() {
                last = client.materialize::<Bill>(TEXT).await.map(Invoice::from).map_err(text);
                if last.is_ok() {
                    break;
                }
            }
            last
        })
    }
}
