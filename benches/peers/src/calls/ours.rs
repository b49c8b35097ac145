//! A chain of two targets.

use std::time::Duration;

use backstop::{Chain, ProviderExt, Request, RetryPolicy, openai::OpenAi, validate::ChainExt};

use super::document::{Invoice, SYSTEM, TEXT};

pub fn client(urls: [String; 2]) -> impl Fn() -> super::client::Answer {
    let [primary, fallback] = urls.map(|url| {
        let provider = OpenAi::builder().base_url(url).api_key("key").build().expect("a provider");
        // Waiting between retries would count as nothing here, and take its time.
        provider
            .model("m")
            .retry(RetryPolicy::default().base(Duration::from_millis(1)).cap(Duration::from_millis(1)))
    });
    let chain = Chain::builder().target(primary.named("primary")).target(fallback.named("fallback"));
    let chain = chain.build().expect("a chain");
    move || {
        let chain = chain.clone();
        Box::pin(async move {
            let request = Request::new(TEXT).system(SYSTEM);
            chain
                .extract::<Invoice>(request)
                .await
                .map(|answer| answer.value)
                .map_err(|error| error.to_string())
        })
    }
}
