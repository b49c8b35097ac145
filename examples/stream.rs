//! A text that appears in the terminal as it comes. The first vendor declines at its first sentence, which nobody sees;
//! the second one's connection breaks in the middle, so that the third one begins anew. Loopback servers play the
//! vendors: it runs without a network.

use std::{
    error::Error,
    io::{Write, stdout},
    time::Duration,
};

use backstop::{
    mock::server::{Completion, End, MockServer, Reply, Streaming},
    prelude::*,
    validate::Refusal,
};

const REFUSAL: &str = "I'm sorry, but I can't help with that request. Please ask me something else.";
const POEM: &str = "The kettle hums, the morning slow,\nthe garden white with early snow;\n\
                    a robin waits upon the sill\nfor crumbs, and then the world is still.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let slowly = || Streaming::new().piece_chars(6).pause(Duration::from_millis(40));
    let openai = server(Reply::from(Completion::text(REFUSAL)).streamed(slowly())).await?;
    let anthropic =
        server(Reply::from(Completion::text(POEM)).streamed(slowly()).cut_at(3_000, End::Close)).await?;
    let ollama = server(Reply::from(Completion::text(POEM)).streamed(slowly())).await?;

    let key = "not-a-real-key";
    let chain = Chain::builder()
        .target(OpenAi::builder().base_url(openai.url()).api_key(key).build()?.model("gpt-4o"))
        .target(
            Anthropic::builder().base_url(anthropic.url()).api_key(key).build()?.model("claude-sonnet-4-5"),
        )
        .target(Ollama::builder().base_url(ollama.url()).build()?.model("llama3.1:8b"))
        .check(Refusal::default())
        .build()?;

    let mut answer =
        chain.stream("Write four lines about a winter morning.").on_interrupt(OnInterrupt::Restart).await?;
    while let Some(event) = answer.next().await {
        match event? {
            StreamEvent::Started { target } => println!("[{target}]"),
            StreamEvent::Delta(text) => {
                print!("{text}");
                stdout().flush()?;
            }
            // A page would clear the text here.
            StreamEvent::Restarted { target } => println!("\n\n[broke off; from the beginning by {target}]"),
            StreamEvent::Finished { report, .. } => println!("\n\n{report}"),
            _ => {}
        }
    }
    Ok(())
}

async fn server(reply: Reply) -> Result<MockServer, Box<dyn Error>> {
    let server = MockServer::start().await?;
    server.push(reply);
    Ok(server)
}
