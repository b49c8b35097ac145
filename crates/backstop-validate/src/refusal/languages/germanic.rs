//! German, Dutch and Swedish. The verb that says what is declined comes last, so the rules reach across the clause.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Two};
use crate::refusal::rule::Signal::{Benign, Decline, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static GERMAN: Pack = Pack {
    language: Language::German,
    cue: Pattern::new(
        concat!(
            "nicht|kein|leider|tut mir leid|bedaure|entschuldig|verweiger|ablehn|lehne|verst(?:ö|o)",
            "|widersprich|untersagt|verboten|bitte|unmöglich|fehlt|passen",
        ),
        &[],
    ),
    rules: &[&GERMAN_RULES],
};

static GERMAN_WORDS: [Word; 2] = [
    (
        "act",
        "(?:helfen|behilflich|weiterhelfen|geben|angeben|bereitstellen|bereitzustellen|unterstützen|unterstützung|erfüllen|anbieten|beantworten|antworten|erstellen|liefern|machen|teilen|mitteilen|schreiben|verfassen|lage\\b|nennen|erklären|berechtigt|befugt|erlaubt|gestattet|zusammenfassen|zusammenzufassen|fortfahren|weitergeben|preisgeben|herausgeben|generieren|erzeugen|verarbeiten|bearbeiten|übersetzen|ausführen|durchführen|nachkommen|entsprechen|teilnehmen|mitwirken|diskutieren|besprechen|beschreiben|fördern|empfehlen|vorschlagen|erteilen|bieten|leisten|dienen|beraten|äußern|extrahieren|dazu bereit|bereit\\b|programmiert|autorisiert|behandeln|anleiten|zeigen|verraten|tun\\b|zur verfügung stellen|entwickeln|formulieren|produzieren|eingehen)",
    ),
    ("adv", "(?:[^ .!?,]+ ){0,4}"),
];

static GERMAN_RULES: [Rule; 8] = [
    Rule::new(
        "de/not-inability",
        Benign,
        Four,
        Flat(0),
        &GERMAN_WORDS,
        concat!(
            r"\bich (?:kann|konnte|könnte) <adv>(?:nicht|kaum|kein[a-z]*) <adv>(?:bestätigen|kommen",
            r"|glauben|erwarten|warten|genug (?:danken|empfehlen|betonen)|teilnehmen|dabei sein",
            r"|feststellen|erkennen|finden|sagen, (?:ob|wann|wie|welche))|\bich (?:kann|möchte) (?:nur",
            r"|auch nur)\b",
        ),
    ),
    Rule::new(
        "de/inability",
        Decline,
        Four,
        Opening(85, 70),
        &GERMAN_WORDS,
        concat!(
            r"\bich (?:kann|könnte|darf|werde|möchte|will|bin|sehe mich|fühle mich",
            r"|würde)\b[^.!?]{0,90}\b(?:nicht|keine?[nrms]?|außerstande)\b[^.!?]{0,120} <act>|\b(?:kann",
            r"|darf|werde|möchte|bin|könnte) ich\b[^.!?]{0,60}\b(?:nicht",
            r"|keine?[nrms]?)\b[^.!?]{0,80} <act>|\b(?:dabei|damit|hierbei|hiermit|dazu) (?:kann",
            r"|darf) ich <adv>(?:nicht|keine)|^ich kann (?:ihnen |dir |dabei |das |dies |leider ",
            r"|euch )*nicht(?: tun)?[.!]|\bich (?:kann|darf",
            r"|werde) (?:[^ .!?,]+ ){0,4}keine (?:[^ .!?,]+ )?(?:informationen|ratschläge|anleitung",
            r"|anweisungen|auskunft|auskünfte|hilfe|unterstützung|tipps|angaben|empfehlung|inhalte|texte",
            r"|details|beratung|rechtsberatung|strategien|methoden|antwort)",
            r"|\bist es mir (?:leider )?(?:nicht (?:gestattet|möglich|erlaubt)|unmöglich|untersagt)",
            r"|\bes ist mir (?:leider )?(?:nicht (?:gestattet|möglich|erlaubt)|unmöglich|untersagt)",
        ),
    ),
    Rule::new(
        "de/plain-no",
        Decline,
        Two,
        Opening(70, 55),
        &GERMAN_WORDS,
        concat!(
            r"\bich (?:helfe|schreibe|übersetze|erstelle|beantworte|gebe|liefere|mache|übernehme|verfasse|unterstütze) [^.!?]{0,40}",
            r"\b(?:nicht|keine[nrms]?)\b|\b(?:das|dies|dazu|dabei|hierzu|darüber|diese [a-z]+) (?:mache|tue|schreibe|übersetze",
            r"|übernehme|beantworte|gebe|helfe) ich (?:[^ .]+ )?(?:nicht|keine)|\bmuss ich passen\b",
        ),
    ),
    Rule::new(
        "de/decline",
        Decline,
        Four,
        Opening(85, 70),
        &GERMAN_WORDS,
        concat!(
            r"\bich (?:muss|möchte|werde) [^.!?]{0,40}\b(?:ablehnen|verweigern|absehen|passen)\b",
            r"|\bich (?:verweigere|weigere mich|lehne)\b[^.!?]{0,60}(?:\bab\b|anfrage|antwort|das|dies",
            r"|mich)|\bmuss ich [^.!?]{0,40}(?:ablehnen|verweigern)",
        ),
    ),
    Rule::new(
        "de/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &GERMAN_WORDS,
        concat!(
            r"\b(?:verstößt|verstoßen|verstieße) gegen (?:meine|unsere|die (?:nutzungs|inhalts",
            r"|sicherheits)|die richtlinien)|\bwiderspricht (?:meinen|unseren) |\b(?:diese|ihre",
            r"|deine) (?:anfrage|bitte) kann (?:[^ .]+ )?nicht (?:bearbeitet|erfüllt|beantwortet",
            r"|verarbeitet)|\bmeine (?:richtlinien|vorgaben|regeln|grundsätze",
            r"|programmierung) (?:[^ .]+ ){0,3}(?:nicht|verbieten|untersagen|erlaubt)",
        ),
    ),
    Rule::new(
        "de/apology",
        Support,
        First,
        Flat(20),
        &GERMAN_WORDS,
        concat!(
            r"^(?:es tut mir (?:sehr )?leid,? (?:aber|ich kann|dass ich)|leider|tut mir leid, (?:aber|ich",
            r"|das|dabei)|ich bedaure|entschuldigung, aber)|\bals (?:ki|künstliche intelligenz",
            r"|sprachmodell|ki-[a-z]+|ki-sprachmodell)\b",
        ),
    ),
    Rule::new(
        "de/better-not",
        Decline,
        Two,
        Flat(60),
        &GERMAN_WORDS,
        concat!(
            r"\bes (?:ist|wäre) (?:nicht|un)[ ]?(?:angemessen|ethisch|vertretbar|zulässig",
            r"|richtig),? [^.!?]{0,60}\bzu (?:geben|helfen|erstellen|unterstützen|liefern|schreiben)",
        ),
    ),
    Rule::new(
        "de/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &GERMAN_WORDS,
        concat!(
            r"\b(?:kein|keinen|keine) (?:[^ .]+ )?(?:dokument|text|datei|anhang|bild|artikel|dateianhang",
            r"|rechnung)\b|\b(?:anhang|dokument|datei|text) (?:fehlt|ist leer|wurde nicht",
            r"|ist nicht (?:angehängt|beigefügt))|\b(?:bitte|könnten sie|könntest du|können sie",
            r"|kannst du) [^.!?]{0,30}(?:dokument|text|datei|anhang|bild|artikel|rechnung",
            r"|inhalt)[^.!?]{0,20}(?:an|bei|ein|hoch|senden|schicken|einfügen|hochladen|anhängen",
            r"|bereitstellen|teilen|zur verfügung)|\bich kann [^.]{0,20}(?:links?|urls?|dateien?|anhänge?",
            r"|webseiten?|bilder) [^.]{0,15}nicht (?:öffnen|aufrufen|ansehen|lesen|abrufen|zugreifen)",
            r"|\bich kann [^.]{0,20}nicht auf (?:[^ .]+ ){0,2}(?:links?|urls?|dateien?|anhänge?|webseiten?",
            r"|internet)",
        ),
    ),
];

pub(crate) static DUTCH: Pack = Pack {
    language: Language::Dutch,
    cue: Pattern::new("niet|geen|spijt|helaas|weiger|afwijz|afslaan|strijd|schend|bijlage|verboden", &[]),
    rules: &[&DUTCH_RULES],
};

static DUTCH_WORDS: [Word; 1] = [(
    "act",
    "(?:helpen|behulpzaam|van dienst|verstrekken|geven|genereren|staat\\b|beantwoorden|antwoorden|schrijven|maken|bieden|delen|verwerken|uitvoeren|voldoen|vertalen|samenvatten|uitleggen|bespreken|beschrijven|meewerken|doorgaan|opstellen|leveren|ondersteunen|assisteren|doen\\b|bereid|bevoegd|gemachtigd|toegestaan|vrijgeven|adviseren|ingaan|produceren)",
)];

static DUTCH_RULES: [Rule; 6] = [
    Rule::new(
        "nl/inability",
        Decline,
        Four,
        Opening(85, 70),
        &DUTCH_WORDS,
        concat!(
            r"\bik (?:kan|mag|zal|ben|wil|ga|zou)\b[^.!?]{0,60}\b(?:niet|geen)\b[^.!?]{0,60} <act>",
            r"|\b(?:kan|mag|zal|wil|ben) ik\b[^.!?]{0,40}\b(?:niet|geen)\b[^.!?]{0,60} <act>",
            r"|\bhet is mij niet (?:toegestaan|mogelijk)",
        ),
    ),
    Rule::new(
        "nl/plain-no",
        Decline,
        Two,
        Opening(70, 55),
        &DUTCH_WORDS,
        concat!(
            r"\b(?:dat|dit|daar) (?:doe|help|schrijf|maak|geef|vertaal) ik (?:[^ .]+ ){0,2}(?:niet|geen)",
            r"|\bik (?:help|schrijf|vertaal|maak|geef) [^.!?]{0,30}\b(?:niet (?:aan |bij )?mee|geen)\b",
        ),
    ),
    Rule::new(
        "nl/decline",
        Decline,
        Four,
        Opening(85, 70),
        &DUTCH_WORDS,
        concat!(
            r"\bik (?:weiger|moet (?:dit|dat|je|uw|deze|het) [^.!?]{0,30}(?:weigeren|afwijzen|afslaan)",
            r"|wijs (?:dit|dat|deze|je|uw) [^.!?]{0,20}af)\b",
        ),
    ),
    Rule::new(
        "nl/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &DUTCH_WORDS,
        concat!(
            r"\b(?:in strijd met|schendt|druist in tegen) (?:mijn|onze|ons|de) (?:[^ .]+)?(?:richtlijnen",
            r"|beleid|regels|principes|voorwaarden)|\b(?:dit|uw|je) verzoek kan niet worden (?:verwerkt",
            r"|ingewilligd|uitgevoerd)",
        ),
    ),
    Rule::new(
        "nl/apology",
        Support,
        First,
        Flat(20),
        &DUTCH_WORDS,
        concat!(
            r"^(?:het spijt me,? (?:maar|ik)|sorry,? (?:maar|ik|dat kan)|helaas)|\bals (?:taalmodel|ai",
            r"|ai-[a-z]+)\b",
        ),
    ),
    Rule::new(
        "nl/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &DUTCH_WORDS,
        concat!(
            r"\bgeen (?:document|tekst|bestand|bijlage|afbeelding|artikel)\b|\b(?:kun je|kunt u|zou je",
            r"|wilt u|wil je)[^.!?]{0,15} (?:het|de|een|uw|je) (?:document|tekst|bestand|bijlage",
            r"|afbeelding|factuur)[^.!?]{0,15}(?:plakken|toevoegen|sturen|delen|uploaden|bijvoegen)",
            r"|\b(?:voeg|plak|stuur|upload|deel) (?:alstublieft |a\.u\.b\. )?(?:het|de|een|uw",
            r"|je) (?:document|tekst|bestand|bijlage|afbeelding)",
        ),
    ),
];

pub(crate) static SWEDISH: Pack = Pack {
    language: Language::Swedish,
    cue: Pattern::new(
        "inte|ingen|inget|tyvärr|ledsen|beklagar|avböj|vägra|avstå|strider|bryter|bifoga|neka",
        &[],
    ),
    rules: &[&SWEDISH_RULES],
};

static SWEDISH_WORDS: [Word; 1] = [(
    "act",
    "(?:hjälpa|lämna|skapa|svara|ge\\b|skriva|generera|bistå|tillhandahålla|erbjuda|utföra|behandla|översätta|sammanfatta|förklara|diskutera|beskriva|medverka|fortsätta|dela\\b|uppfylla|producera|göra\\b|assistera|stödja|ta fram|besvara|rekommendera)",
)];

static SWEDISH_RULES: [Rule; 5] = [
    Rule::new(
        "sv/inability",
        Decline,
        Four,
        Opening(85, 70),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:(?:kan|får|vill|tänker|kommer) jag inte|jag (?:kan|får|vill|tänker",
            r"|kommer) (?:tyvärr )?inte)\b[^.!?]{0,40} <act>|\bjag (?:har inte möjlighet",
            r"|är inte (?:behörig|tillåten|kapabel|beredd)|saknar möjlighet)",
        ),
    ),
    Rule::new(
        "sv/decline",
        Decline,
        Four,
        Opening(85, 70),
        &SWEDISH_WORDS,
        r"\bjag (?:måste |vill |väljer att )?(?:avböja|avböjer|vägrar|avstå|avstår|tacka nej|neka|nekar)\b",
    ),
    Rule::new(
        "sv/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:strider mot|bryter mot) (?:mina|våra|de) (?:riktlinjer|regler|principer|policyer|policy",
            r"|villkor)|\b(?:din|denna) (?:begäran|förfrågan) kan inte (?:behandlas|uppfyllas)",
        ),
    ),
    Rule::new(
        "sv/apology",
        Support,
        First,
        Flat(20),
        &SWEDISH_WORDS,
        r"^(?:tyvärr|jag är ledsen,? men|jag beklagar,? men|förlåt,? men)|\bsom (?:språkmodell|ai)\b",
    ),
    Rule::new(
        "sv/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:inget|ingen|någon|något) (?:dokument|text|fil|bilaga|bild|artikel)\b|\b(?:bifoga",
            r"|klistra in|skicka|ladda upp|dela) (?:gärna )?(?:dokumentet|texten|filen|bilagan|bilden",
            r"|artikeln|ett|en)\b",
        ),
    ),
];
