//! The forms of `OLLAMA_HOST`: `host`, `host:port`, `:port`, an IP address of either version, or a URL.
//!
//! Read as Ollama's own client reads it, with two differences: an address that only a server can use (`0.0.0.0`, `::`)
//! means this machine, and a port that is none is an error.

use std::net::{Ipv4Addr, Ipv6Addr};

use backstop_core::ConfigError;

const PORT: u16 = 11_434;

/// The base URL that `value` stands for.
pub(crate) fn base_url(value: &str) -> Result<String, ConfigError> {
    let value = value.trim().trim_matches(['"', '\'']).trim();
    let (scheme, rest, port) = match value.split_once("://") {
        Some(("http", rest)) => ("http", rest, 80),
        Some(("https", rest)) => ("https", rest, 443),
        Some(_) => return Err(fault("is neither an http nor an https URL")),
        // Ollama's cloud speaks nothing else.
        None if value == "ollama.com" => ("https", value, 443),
        None => ("http", value, PORT),
    };
    let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = host_and_port(place, port)?;
    Ok(format!("{scheme}://{host}:{port}{}", path.trim_end_matches('/')))
}

fn host_and_port(place: &str, default: u16) -> Result<(String, u16), ConfigError> {
    if let Ok(address) = place.trim_matches(['[', ']']).parse::<Ipv6Addr>() {
        return Ok((v6(address), default));
    }
    let (host, port) = match place.rsplit_once(':') {
        None => (place, default),
        Some((host, port)) => {
            (host, port.parse().map_err(|_| fault("has a port that is no number up to 65535"))?)
        }
    };
    let host = match host {
        "" => Ipv4Addr::LOCALHOST.to_string(),
        host => match (host.trim_matches(['[', ']']).parse::<Ipv6Addr>(), host.parse::<Ipv4Addr>()) {
            (Ok(address), _) => v6(address),
            (_, Ok(Ipv4Addr::UNSPECIFIED)) => Ipv4Addr::LOCALHOST.to_string(),
            _ => host.to_owned(),
        },
    };
    Ok((host, port))
}

fn v6(address: Ipv6Addr) -> String {
    let address = if address.is_unspecified() { Ipv6Addr::LOCALHOST } else { address };
    format!("[{address}]")
}

fn fault(why: &'static str) -> ConfigError {
    ConfigError::setting("OLLAMA_HOST", format!("{why}; write it like host:{PORT} or https://host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let table = [
            ("", "http://127.0.0.1:11434"),
            ("1.2.3.4", "http://1.2.3.4:11434"),
            ("1.2.3.4:5678", "http://1.2.3.4:5678"),
            (":5678", "http://127.0.0.1:5678"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:5678", "http://127.0.0.1:5678"),
            ("::", "http://[::1]:11434"),
            ("::1", "http://[::1]:11434"),
            ("[::1]", "http://[::1]:11434"),
            ("[::]:5678", "http://[::1]:5678"),
            ("gpu.example", "http://gpu.example:11434"),
            ("gpu.example:5678", "http://gpu.example:5678"),
            ("http://gpu.example", "http://gpu.example:80"),
            ("https://gpu.example", "https://gpu.example:443"),
            ("https://gpu.example:5678", "https://gpu.example:5678"),
            ("https://gpu.example/ollama/", "https://gpu.example:443/ollama"),
            ("gpu.example:5678/", "http://gpu.example:5678"),
            ("ollama.com", "https://ollama.com:443"),
            (" \"1.2.3.4\" ", "http://1.2.3.4:11434"),
            ("'gpu.example'", "http://gpu.example:11434"),
        ];
        for (value, expected) in table {
            assert_eq!(base_url(value).unwrap(), expected, "{value}");
        }
        for value in ["gpu.example:port", "1.2.3.4:70000", "ftp://gpu.example", "gpu.example:"] {
            let error = base_url(value).unwrap_err().to_string();
            assert!(error.starts_with("`OLLAMA_HOST`"), "{value}: {error}");
        }
    }
}
