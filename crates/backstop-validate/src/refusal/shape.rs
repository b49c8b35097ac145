//! What the form of an answer says against a refusal: labels, letters, lists, code, length.

use super::head::{Head, answer_start, fold_phrase, starts_list_item};
use super::pattern::Pattern;
use super::score::Score;

/// How much of a long answer is read for its shape, in bytes.
const READ: usize = 8 * 1024;

/// Field names that open an extraction or a summary, in several languages.
static LABELLED: Pattern = Pattern::new(
    concat!(
        r"^(?:summary|tl;?dr|translation|paraphrase|label|classification|category|title|topic",
        r"|key points|meeting notes|minutes|corrected text|scene|q|speaker|quote|note to|customer",
        r"|subject|headline|sentiment|transcript|resumen|résumé|traduction|zusammenfassung|übersetzung",
        r"|riassunto|traduzione|resumo|tradução|traducción|samenvatting|vertaling|streszczenie",
        r"|tłumaczenie|özet|ringkasan|terjemahan|tóm tắt|bản dịch|sammanfattning|översättning|摘要|总结|翻译",
        r"|译文|要約|翻訳|요약|번역|الملخص|ملخص|الترجمة|सारांश|अनुवाद|краткое содержание",
        r"|перевод)[^:：\n.]{0,25} ?[:：]",
    ),
    &[],
);

static LETTER: Pattern = Pattern::new(
    concat!(
        r"^(?:(?:subject|betreff|objet|oggetto|asunto|assunto)[^:]{0,10}:|dear [a-z]|to whom it|(?:hi",
        r"|hello|hey) (?:[a-z]+ )?[a-z]+,|sehr geehrte|liebe[rs]? [^ ,]+,|chère? |madame|monsieur",
        r"|gentile |caro |cara |egregi|estimad[oa]s? |querid[oa] |prezad[oa]s? |beste |geachte ",
        r"|szanown|уважаем|尊敬的|拝啓|[^ ]{1,6}(?: [^ ]{1,4})? ?様(?: |$)|[^ ]{2,6} ?님[,께]|yth\.|kính gửi|sayın ",
        r"|kära |bästa |प्रिय |आदरणीय |السيد|عزيز)",
    ),
    &[],
);

static REPORTED: Pattern = Pattern::new(
    concat!(
        r"\b(?:said|says|told|wrote|writes|replied|whispered|muttered|shouted|according to|reported",
        r"|stated|explained|added|announced|spokes[a-z]+|refused to|declined to|customer writes",
        r"|complains that|claims that)\b",
    ),
    &[],
);

/// The speaker named after the words: counts even where these open the text.
static TAGGED: Pattern = Pattern::new(
    concat!(
        r"[,!?.] said (?:the|a|my|his|her|[a-z]+)\b|[,!?.] (?:he|she|they|the [a-z]+|[a-z]+) (?:said|says|sang|sings|cried|whispered|muttered",
        r"|replied|shouted|wrote|writes|thought|thinks)\b|, (?:schreibt|schrieb|sagt|sagte|rief|erklärte|écrit|dit|répondit|dice|dijo|escribe|scrive|disse|escreve|zei|schrijft) ",
    ),
    &[],
);

/// Speakers' names before their lines, as in a script or a chat log.
static DIALOGUE: Pattern =
    Pattern::new(r"(?:^|[.!?\])] )(?:the )?[^ .,:!?]{2,20}(?: [^ .,:!?]{2,20})?: [^ ]", &[]);

static TURN: Pattern = Pattern::new(
    concat!(
        r"\b(?:here (?:is|are)|here's|below (?:is|are)|the following|as follows|(?:however|but|instead",
        r"|that said|that being said),? (?:i|here|we)(?: can| could|'m able| am able|'d be happy|'ll",
        r"|\b)|i can (?:however|instead|provide|offer|share|give|tell|help|certainly|explain",
        r"|summari[sz]e)|let me (?:explain|give|share|summari[sz]e)|voici|hier (?:ist|sind)|ecco )",
        r"|aquí (?:está|tienes|van)|aqui está|oto |вот |다음(?:은|과)|다음 방법|以下|次の",
    ),
    &[],
);

/// "I can't give legal advice, but in general …": no refusal where an answer of some length follows.
static DISCLAIMER: Pattern = Pattern::new(
    concat!(
        r"^[^.!?。]{0,60}(?:\b(?:legal|medical|financial|tax|investment|professional|binding|diagnos[a-z]+",
        r"|(?:rechts|steuer|finanz|medizin)[a-z]*(?:beratung|rat)|conseils? [a-z]+|avis (?:juridique|médical)",
        r"|asesor[a-zí]+ [a-z]+|consejos? [a-z]+|consulenz[ae] [a-z]+|parer[ei] [a-z]+|aconselhamento [a-z]+",
        r"|jurid[a-z]+ advies|bindend advies|medisch advies|porad[ya]? [a-z]+|juridisk|medicinsk)\b",
        r"|jurist|lawyer|doctor|юридическ|медицинск|弁護士|医師|法律|医療|律师|医生|의사|변호사|법률|의료)",
        r"[^.!?。]{0,60}(?:, (?:but|though|aber|doch|mais|pero|ma|mas|maar|men|но|ale)\b|が、|，但|지만)",
    ),
    &[],
);
/// How long an answer is at least that follows a disclaimer, in bytes.
const AFTER_DISCLAIMER: usize = 250;

/// An answer that says which part it leaves out.
static HANDED_OVER: Pattern = Pattern::new(
    concat!(
        r"\b(?:here(?:'s| is| are)|below is|the following is) (?:all )?(?:the (?:rest|remainder",
        r"|remaining|other)|everything else|what (?:remains|is left))\b|\b(?:with|without) (?:that",
        r"|those|it|them|these|the [a-z]+(?: [a-z]+)?) (?:left out|omitted|removed|redacted|masked)\b",
        r"|\bi(?: have|'ve)? (?:left (?:it|them|that|those|this)|omitted|redacted|skipped)\b",
    ),
    &[],
);

/// Answers, letters and reports that say "I cannot" as their content.
pub(crate) fn form(text: &str, head: &Head, score: &mut Score) {
    let start = text.get(answer_start(text)..).unwrap_or_default().trim_start();
    // Folding joins lines, so that a heading and a colon in the text below it would pass for a label.
    let colon = start.lines().next().is_some_and(|line| line.contains([':', '\u{ff1a}']));
    if opens_as_data(start) || (colon && LABELLED.is_match(head.text())) {
        score.note("form: labelled, list or code", -70);
    }
    if LETTER.is_match(head.text()) {
        score.note("form: letter", -70);
    }
    if is_dialogue(head.text(), score.opens_with_decline) {
        score.note("form: dialogue", -70);
    }
    let apologises = score.evidence.iter().any(|evidence| evidence.rule.ends_with("/apology"));
    let reported = if score.opens_with_decline { &TAGGED } else { &REPORTED };
    if !apologises {
        if let Some(part) = reported.find(head.sentences(4)) {
            score.evidence.push(super::Evidence {
                span: head.origin(&part),
                rule: "form: reported speech",
                points: if score.opens_with_decline { -70 } else { -35 },
            });
        }
    }
}

/// Speakers' lines, or a dash that opens the first one, as novels in many languages print speech.
fn is_dialogue(head: &str, opens_with_decline: bool) -> bool {
    // "Sorry: I can't. Reason: ..." has two labels as well, a script goes on.
    let fewest = if opens_with_decline { 3 } else { 2 };
    head.starts_with(['\u{2014}', '\u{2013}', '\u{2015}'])
        || DIALOGUE.find_all(head).take(fewest).count() == fewest
}

fn opens_as_data(start: &str) -> bool {
    let tag = start.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let tagged = tag.is_some_and(|(name, _)| {
        !name.is_empty()
            && name.len() < 40
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    });
    let subtitles = start.lines().take(2).any(|line| line.contains(" --> "));
    subtitles
        || start.starts_with('|')
        || start.starts_with("```")
        || tagged
        || starts_list_item(start.chars())
}

/// Takes points for what the answer holds besides the decline: lists, code, an announced answer, sheer length.
/// Returns that length, in folded characters.
pub(crate) fn substance(text: &str, cap: Option<i32>, score: &mut Score) -> usize {
    let answer = text.get(answer_start(text)..).unwrap_or_default();
    let read = prefix(answer, READ);
    let folded = fold_phrase(read);
    let length = folded.chars().count();
    let items = read.lines().filter(|line| starts_list_item(line.chars())).count();
    let code = read.contains("```") && length > 200;
    let found = [
        ("substance: list", 30, items >= 3),
        ("substance: code", 40, code),
        ("substance: turns to an answer", 20, length > 500 && TURN.is_match(&folded)),
        ("substance: long", 25, length > 1500),
        ("substance: rather long", 10, (901..=1500).contains(&length)),
    ];
    // Code is an answer whatever stands before it, and nobody declines for 2500 characters.
    let mut left = cap.filter(|_| !code && length < 2500).unwrap_or(i32::MAX);
    if score.declined > 0 && HANDED_OVER.is_match(&folded) {
        score.substance -= 70;
        score.note("substance: hands over the rest", -70);
    }
    if read.len() > AFTER_DISCLAIMER && DISCLAIMER.is_match(&folded) {
        score.note("substance: answers after a disclaimer", -60);
    }
    for (rule, points, holds) in found {
        let points = points.min(left);
        if holds && points > 0 {
            left -= points;
            score.substance -= points;
            score.note(rule, -points);
        }
    }
    length
}

/// The first `limit` bytes, or a few fewer where that would cut a character.
fn prefix(text: &str, limit: usize) -> &str {
    (0..4).find_map(|back| text.get(..limit.saturating_sub(back))).unwrap_or(text)
}

/// The patterns of this file.
pub(crate) fn patterns() -> impl Iterator<Item = &'static Pattern> {
    [&LABELLED, &LETTER, &REPORTED, &TAGGED, &DIALOGUE, &TURN, &DISCLAIMER, &HANDED_OVER].into_iter()
}
