//! A stand-in for a model: it reads the text it is sent by plain rules and answers as a model would. It knows
//! nothing of the files in `data/`, so an answer comes from the text or not at all.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

/// Answers like a hasty model: the facts are right, but the total is text with a currency and the currency has no
/// field of its own.
pub fn hasty(text: &str) -> String {
    match read(text) {
        None => nothing_found(),
        Some(mut invoice) => {
            if let Value::Object(fields) = &mut invoice {
                let currency = fields.remove("currency").unwrap_or_default();
                let total = fields.remove("total").unwrap_or_default();
                let words = format!("{} {total}", currency.as_str().unwrap_or_default());
                fields.insert("total".to_owned(), json!(words));
            }
            format!("Here is the invoice:\n```json\n{invoice:#}\n```")
        }
    }
}

/// Answers like a careful model.
pub fn careful(text: &str) -> String {
    read(text).map_or_else(nothing_found, |invoice| invoice.to_string())
}

fn nothing_found() -> String {
    "The text mentions no invoice that I could read: I see neither a number nor a total.".to_owned()
}

fn read(text: &str) -> Option<Value> {
    let (currency, total) = total(text)?;
    Some(json!({
        "number": number(text)?,
        "date": date(text)?,
        "vendor": vendor(text)?,
        "currency": currency,
        "lines": lines(text),
        "total": total,
    }))
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of the stand-in are right")
}

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?im)^\s*(?:invoice|receipt|rechnung)\s*(?:number|no\.?|nr\.?|#)\s*:?\s*([A-Z0-9&][A-Z0-9&/-]*)",
    )
});

fn number(text: &str) -> Option<String> {
    NUMBER.captures(text).map(|found| found[1].to_owned())
}

fn date(text: &str) -> Option<String> {
    static ISO: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{4})-(\d{2})-(\d{2})\b"));
    static DOTTED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b"));
    static WORDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([A-Z][a-z]+) (\d{1,2}), (\d{4})\b"));
    let number = |text: &str| text.parse::<u32>().ok();
    let (year, month, day) = if let Some(found) = ISO.captures(text) {
        (number(&found[1])?, number(&found[2])?, number(&found[3])?)
    } else if let Some(found) = DOTTED.captures(text) {
        (number(&found[3])?, number(&found[2])?, number(&found[1])?)
    } else {
        let found = WORDS.captures(text)?;
        (number(&found[3])?, month(&found[1])?, number(&found[2])?)
    };
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

fn month(name: &str) -> Option<u32> {
    let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let start = name.get(..3)?.to_ascii_lowercase();
    names.iter().position(|month| *month == start).and_then(|index| u32::try_from(index + 1).ok())
}

/// The letterhead, which is the first line of what stands right above the number; else the sender of the mail.
fn vendor(text: &str) -> Option<String> {
    static SENDER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^(?:From|Von):\s*([^<\n]+?)\s*<"));
    let above = &text[..NUMBER.find(text)?.start()];
    let block = above.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let letterhead = block.lines().map(str::trim).find(|line| !line.is_empty());
    let name = letterhead.filter(|line| !line.contains([':', '<', '@']));
    let sender = || SENDER.captures(text).map(|found| found[1].trim().to_owned());
    name.map(str::to_owned).or_else(sender)
}

fn lines(text: &str) -> Vec<Value> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*(\d+) x (\S.*?)\s{2,}([\d.,]+)\s*$"));
    LINE.captures_iter(text)
        .filter_map(|found| {
            let quantity = found[1].parse::<u32>().ok()?;
            Some(json!({"description": &found[2], "quantity": quantity, "amount": amount(&found[3])?}))
        })
        .collect()
}

/// The last line that speaks of a total and no subtotal.
fn total(text: &str) -> Option<(&'static str, f64)> {
    static TOTAL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?im)^\s*(?:(?:invoice |grand )?total(?: due)?|gesamtbetrag|amount due)\b:?\s*(GBP|EUR|USD|CHF|[£€$])?\s*(\d[\d.,]*)\s*(GBP|EUR|USD|CHF|[£€$])?",
        )
    });
    let found = TOTAL.captures_iter(text).last()?;
    let sign = found.get(1).or_else(|| found.get(3))?.as_str();
    let currency = match sign.to_ascii_uppercase().as_str() {
        "£" | "GBP" => "GBP",
        "€" | "EUR" => "EUR",
        "$" | "USD" => "USD",
        _ => "CHF",
    };
    Some((currency, amount(&found[2])?))
}

/// `1,234.50` and `1.234,50` are both 1234.5: the last separator is the decimal one if two digits follow.
fn amount(text: &str) -> Option<f64> {
    let decimal = text.rfind(['.', ',']).filter(|at| text.len() - at == 3);
    let digits = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    let (whole, cents) = match decimal {
        Some(at) => (digits(&text[..at]), digits(&text[at..])),
        None => (digits(text), "0".to_owned()),
    };
    format!("{whole}.{cents}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invoice::Invoice;

    #[test]
    fn it_reads_every_text_in_the_folder() {
        let expected = [
            ("hosting_invoice", "NH-2026-0417", "2026-04-01", "Northwind Hosting Ltd", "GBP", 3, 67.8),
            ("cafe_receipt", "88213", "2026-05-03", "CAFÉ LUMIÈRE", "EUR", 3, 20.5),
            ("freelancer_mail", "2026-019", "2026-03-09", "Oliveira Design", "USD", 3, 2570.0),
            ("rechnung", "4711-B", "2026-02-17", "Holzwerk Brandt GmbH", "EUR", 3, 1576.16),
            ("parts_order", "B&B-90233", "2026-07-21", "BOLT & BRACKET INC.", "USD", 3, 171.63),
        ];
        for (file, number, date, vendor, currency, lines, total) in expected {
            let path = format!("{}/data/{file}.txt", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let invoice: Invoice = serde_json::from_str(&careful(&text)).unwrap();
            let read = (invoice.number.as_str(), invoice.date.as_str(), invoice.vendor.as_str());
            assert_eq!(read, (number, date, vendor), "{file}");
            assert_eq!(
                (invoice.currency.as_str(), invoice.lines.len(), invoice.total),
                (currency, lines, total),
                "{file}"
            );
            assert!(hasty(&text).contains(&format!("\"total\": \"{currency} ")), "{file}");
        }
    }

    #[test]
    fn it_reads_a_text_of_which_it_knows_nothing_and_finds_nothing_where_nothing_is() {
        let text = "Acme Ltd\nInvoice no. X-1\nDate: 2026-01-02\n\n3 x Widget   9.00\n\nTotal: CHF 9.00\n";
        let invoice: Invoice = serde_json::from_str(&careful(text)).unwrap();
        assert_eq!((invoice.number.as_str(), invoice.currency.as_str(), invoice.total), ("X-1", "CHF", 9.0));
        assert_eq!(invoice.lines[0].quantity, 3);
        assert!(!careful("Dear Tom, the weather is fine here.").contains('{'));
    }
}
