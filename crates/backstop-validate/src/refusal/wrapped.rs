//! Refusals inside JSON: `{"error": "I cannot help with that"}` is one, a record that quotes a customer is not.

use std::ops::Range;

use serde::de::IgnoredAny;

/// JSON larger than this is data: a refusal in JSON is short.
const LARGEST: usize = 16 * 1024;
/// Strings shorter than this say nothing.
const SHORTEST: usize = 8;

/// Fields in which a model speaks for itself, in the languages that have rules: error, message, reason, status, note.
const SPEAKS: [&str; 11] = [
    "error refusal message reason status detail details note explanation content",
    "fehler meldung nachricht grund begründung hinweis erklärung",
    "erreur message raison motif statut remarque explication",
    "error mensaje motivo razón razon estado nota explicación erro mensagem razão razao observação",
    "errore messaggio stato spiegazione avviso",
    "fout melding bericht reden opmerking fel meddelande anledning skäl",
    "błąd blad komunikat wiadomość powód powod uwaga ошибка сообщение причина статус примечание",
    "错误 錯誤 消息 原因 理由 状态 狀態 说明 說明 备注 エラー メッセージ 状態 説明 備考 注記",
    "오류 메시지 이유 사유 상태 비고 설명",
    "خطأ رسالة سبب السبب الحالة ملاحظة त्रुटि संदेश कारण स्थिति",
    "hata mesaj sebep neden durum açıklama kesalahan pesan alasan catatan lỗi",
];

fn speaks(key: &str) -> bool {
    SPEAKS.iter().any(|keys| keys.split(' ').any(|known| known == key))
}

/// One string value of a JSON answer.
pub(crate) struct Leaf {
    /// The string, unescaped.
    pub(crate) text: String,
    /// Its bytes in the answer, without the quotation marks.
    pub(crate) span: Range<usize>,
    /// The nearest key above it, in lower case; empty at the root.
    pub(crate) key: String,
}

/// The strings of an answer that is JSON.
pub(crate) struct Document {
    pub(crate) leaves: Vec<Leaf>,
    /// Values that are not empty, of any type.
    pub(crate) values: usize,
}

impl Document {
    /// `None` if the answer is not JSON, or too large to be a refusal. A code fence around it may stay.
    pub(crate) fn read(answer: &str, offset: usize) -> Option<Self> {
        let (json, start) = unfenced(answer);
        if json.len() > LARGEST || !json.starts_with(['{', '[', '"']) {
            return None;
        }
        serde_json::from_str::<IgnoredAny>(json).ok()?;
        Some(Scanner::new(json, offset + start).document())
    }

    /// What the place of a string says: points to add to those of its text.
    pub(crate) fn place(&self, leaf: &Leaf) -> i32 {
        let mut points = 0;
        if !speaks(&leaf.key) && self.values > 1 {
            points -= 70;
        }
        if self.values > 3 {
            points -= 40;
        }
        points
    }
}

/// The answer without a code fence around the whole of it, and where that starts.
fn unfenced(answer: &str) -> (&str, usize) {
    let lead = answer.len() - answer.trim_start().len();
    let trimmed = answer.trim();
    let inner = trimmed.strip_prefix("```").and_then(|rest| {
        let (info, body) = rest.split_once('\n')?;
        let body_start = 3 + info.len() + 1;
        body.strip_suffix("```").map(|body| (body, body_start))
    });
    let (body, skipped) = inner.unwrap_or((trimmed, 0));
    let indent = body.len() - body.trim_start().len();
    (body.trim(), lead + skipped + indent)
}

/// Walks JSON that is known to be valid and notes its strings; no tree is built.
struct Scanner<'a> {
    json: &'a str,
    offset: usize,
    /// The current key of each open object or list.
    keys: Vec<String>,
    found: Document,
}

impl<'a> Scanner<'a> {
    fn new(json: &'a str, offset: usize) -> Self {
        Self { json, offset, keys: Vec::new(), found: Document { leaves: Vec::new(), values: 0 } }
    }

    fn document(mut self) -> Document {
        let bytes = self.json.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at = match byte {
                b'"' => self.string(at),
                b'{' | b'[' => {
                    // A list's strings answer to the list's own key.
                    let inherited = self.keys.last().cloned().unwrap_or_default();
                    self.keys.push(inherited);
                    at + 1
                }
                b'}' | b']' => {
                    self.keys.pop();
                    at + 1
                }
                b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => at + 1,
                _ => {
                    let word = bytes.iter().skip(at).take_while(|b| !b",]} \n\r\t".contains(b)).count();
                    self.found.values += usize::from(byte != b'n');
                    at + word.max(1)
                }
            };
        }
        self.found
    }

    /// Reads the string literal at `at` and returns where it ends.
    fn string(&mut self, at: usize) -> usize {
        let bytes = self.json.as_bytes();
        let mut end = at + 1;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'\\' => end += 2,
                b'"' => break,
                _ => end += 1,
            }
        }
        let literal = self.json.get(at..=end).unwrap_or_default();
        let text: String = serde_json::from_str(literal).unwrap_or_default();
        let is_key = bytes.iter().skip(end + 1).find(|b| !b.is_ascii_whitespace()) == Some(&b':');
        if is_key {
            if let Some(key) = self.keys.last_mut() {
                *key = text.to_lowercase();
            }
        } else if !text.trim().is_empty() {
            self.found.values += 1;
            if text.len() >= SHORTEST {
                let key = self.keys.last().cloned().unwrap_or_default();
                let span = self.offset + at + 1..self.offset + end;
                self.found.leaves.push(Leaf { text, span, key });
            }
        }
        end + 1
    }
}
