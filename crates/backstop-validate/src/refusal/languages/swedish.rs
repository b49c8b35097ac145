//! Swedish. The verb that says what is declined comes last, so the rules reach across the clause.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Two};
use crate::refusal::rule::Signal::{Benign, Decline, Deflect, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static SWEDISH: Pack = Pack {
    language: Language::Swedish,
    cue: Pattern::new(
        concat!(
            "inte[ .,:;!]|ingen|inget|tyvärr|ledsen|beklagar|avböj|vägra|avstå|strider|bryter|bifoga|neka",
            "|inga|aldrig|ämne|annat|utanför|endast|bara|enbart|saknar|blockera|stoppa|nej|helst|hellre",
            "|slutar|utöver|bortom|utelämna|avvisa|avslag|låt oss",
        ),
        &[],
    ),
    rules: &[&SWEDISH_RULES],
};

static SWEDISH_WORDS: [Word; 5] = [
    (
        "act",
        concat!(
            r"(?:hjälpa|lämna|skapa|svara|ge\b|skriva|generera|bistå|tillhandahålla|erbjuda|utföra",
            r"|behandla|översätta|sammanfatta|förklara|diskutera|beskriva|medverka|fortsätta|dela\b",
            r"|uppfylla|producera|göra\b|assistera|stödja|ta fram|besvara|rekommendera|återge|skriva av",
            r"|kopiera|citera|läsa upp|transkribera|bedöma|avgöra|säga\b|berätta|nämna|avslöja|lämna ut",
            "|fullfölja|delta|bidra|ta ställning|kommentera|uttala|råda|gissa|identifiera|utforma",
            "|hitta på|spela|visa|analysera|räkna ut|lyssna|publicera|välja|redigera|formulera om|sprida",
            "|planera|lista|ge råd|öppna|peka ut|rekommendera|extrahera|fylla i|bearbeta|stå till tjänst",
            "|hantera|tolka|beskriva|bistå|fylla|ställa upp|lägga mig|låtsas)",
        ),
    ),
    (
        "present",
        concat!(
            "(?:hjälper|skriver|översätter|gör|ger|svarar|lämnar|skapar|delar|deltar|medverkar|beskriver",
            "|berättar|avslöjar|kommenterar|uttalar|bedömer|rekommenderar|identifierar|återger|spelar|tar",
            "|behandlar|diskuterar|fortsätter|producerar|genererar|ställer upp|pratar|listar)",
        ),
    ),
    (
        "thing",
        concat!(
            "(?:begäran|förfrågan|förfrågningen|frågan|svaret|svar|innehållet|innehåll|texten|dokumentet",
            "|filen|bilden|sammanfattning(?:en)?|översättning(?:en)?|bildtext|beskrivning|transkription",
            "|meddelandet|prompten|analys(?:en)?|resultat|utdata|stegen|listan)",
        ),
    ),
    (
        "refused",
        concat!(
            "(?:avvisats?|avvisades|avslagits|avslogs|nekats|nekades|blockerats?|blockerades|stoppats?",
            "|stoppades|filtrerats?|utelämnats|utelämnas|hoppats över|inte (?:[^ .]+ )?(?:behandlas",
            "|behandlats|besvaras|besvarats|skapas|skapats|genereras|genererats|återges|översättas",
            "|översatts|sammanfattas|sammanfattats|lämnas|lämnas ut|uppfyllas|genomföras|visas|bearbetas",
            "|bearbetats|tagits fram|möjlig|tillåt[a-z]+))",
        ),
    ),
    (
        "reason",
        concat!(
            "(?:riktlinje|polic|säkerhet|villkor|strider|bryter|integritet|personuppgift|upphovsrätt",
            "|känslig|farlig|skadlig|förbjud|olaglig|brottslig|våld|konfidentiell|hat|olämplig|missbruk",
            "|försiktighet|respekt|regler)",
        ),
    ),
];

static SWEDISH_RULES: [Rule; 12] = [
    Rule::new(
        "sv/not-inability",
        Benign,
        Four,
        Flat(0),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:kan|kunde|kommer) (?:jag )?(?:tyvärr )?inte (?:komma|närvara|bekräfta|tro\b|vänta|hitta",
            r"|se\b|ge upp)|\bjag (?:kan|kommer) (?:tyvärr )?inte (?:komma|närvara|bekräfta|tro\b|vänta",
            r"|hitta|se\b|ge upp)|\binga? (?:[^ .,]+ ){1,3}?[^ .,]+, men (?:i |en |ett |normalt|oftast",
            "|vanligtvis|snitt)",
        ),
    ),
    Rule::new(
        "sv/inability",
        Decline,
        Four,
        Opening(85, 70),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:(?:kan|får|vill|tänker|kommer|ska|bör|kunde|skulle) jag (?:[^ .]+ ){0,2}?inte",
            r"|jag (?:kan|får|vill|tänker|kommer|ska|bör|skulle) (?:[^ .]+ ){0,2}?inte)\b[^.!?]* <act>",
            r"|\bjag (?:har inte möjlighet|är inte (?:behörig|tillåten|kapabel|beredd)|saknar möjlighet)",
            r"|\b(?:kan|får) jag (?:tyvärr )?inte[.,!]|\bjag (?:[^ .]+ )?(?:saknar|har inte",
            "|har ingen) (?:behörighet|möjlighet|befogenhet|rätt|tillstånd)",
        ),
    ),
    Rule::new(
        "sv/decline",
        Decline,
        Four,
        Opening(85, 70),
        &SWEDISH_WORDS,
        concat!(
            r"\bjag (?:måste |vill |väljer att )?(?:avböja|avböjer|vägrar|avstå|avstår|tacka nej|neka",
            r"|nekar)\b|\b(?:måste|vill|får) jag (?:[^ .]+ ){0,4}?(?:avböja|avstå|tacka nej|neka|vägra",
            r"|säga nej|passa)\b|\bjag (?:måste|får) (?:[^ .]+ ){0,4}säga nej\b|\b(?:avstår|avböjer",
            r"|vägrar) jag\b|\bjag (?:skulle |vill )?(?:helst|hellre) (?:inte|låta bli)\b",
            r"|\bsvaret (?:är fortfarande|förblir) nej\b",
        ),
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
            "|klistra in|skicka|ladda upp|dela) (?:gärna )?(?:dokumentet|texten|filen|bilagan|bilden",
            r"|artikeln|ett|en)\b|inte öppna (?:[^ .]+ ){0,2}(?:länk|fil|bilaga|url)",
        ),
    ),
    Rule::new(
        "sv/plain-no",
        Decline,
        Four,
        Opening(70, 55),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:det|detta|den|sådant|sådana [a-zåäö]+|[a-zåäö]+) <present> jag (?:[^ .]+ ){0,2}(?:inte",
            r"|inga|ingen|inget|aldrig)\b|\bjag <present> (?:[^ .]+ ){0,3}?(?:inte|inga|ingen|inget",
            r"|aldrig)\b|\b(?:är|vore) (?:inte|inget) (?:min sak|för mig|något (?:som )?jag)",
            r"|\bjag håller mig utanför",
        ),
    ),
    Rule::new(
        "sv/beyond-my-scope",
        Obstacle,
        Four,
        Flat(55),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:ligger|faller|går) (?:utanför|utöver|bortom) (?:min|mitt|mina|vad jag|det jag)",
            r"|\butanför (?:mitt|min) (?:[a-zåäö]*område|uppdrag|uppgift|räckvidd)",
            r"|\bnågot (?:som )?jag (?:[^ .]+ ){0,3}inte\b",
        ),
    ),
    Rule::new(
        "sv/refused-by-machine",
        Obstacle,
        Four,
        Flat(60),
        &SWEDISH_WORDS,
        concat!(
            "<thing>[^.!?]* <refused>[^.!?]*(?:[.] ?[^.!?]*)?<reason>",
            r"|<reason>[^.!?]*<thing>[^.!?]* <refused>|\b(?:inget",
            "|ingen) (?:[^ .]+ )?<thing> (?:[^ .]+ )?(?:skapats|genererats|lämnas|tagits fram|ges|kan ges",
            "|skapas|visas)|<thing> (?:[^ .]+ )?(?:blockerat|blockerats|stoppats|blockerades) av",
            "|<thing>[^.!?]*<reason>[^.!?]* ?<refused>",
        ),
    ),
    Rule::new(
        "sv/assistant-does-not",
        Decline,
        Four,
        Flat(60),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:den här|denna|detta|vår) (?:[^ .]+ )?(?:[a-zåäö-]*assistent(?:en)?",
            "|[a-z-]*chattbot(?:en)?|[a-z-]*chatbot(?:en)?|bot(?:en)?",
            r"|språkmodell(?:en)?)\b[^.!?]*\b(?:inte|inga|inget|ingen|endast|bara|enbart|vägrar)\b",
            r"|\b(?:assistenten|chattboten|chatboten|boten|[a-z]{2,16}bot) (?:svarar|ger|hanterar",
            r"|behandlar|hjälper|får|kan|tar|uttalar|vägrar|är)\b[^.!?]*\b(?:inte|inga|inget|ingen|endast",
            r"|bara|enbart)\b",
        ),
    ),
    Rule::new(
        "sv/no-live-data",
        Decline,
        Four,
        Flat(55),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:(?:jag har|har jag)\b[^.!?]{0,30}\b(?:ingen|inte|inget|inga)|jag saknar",
            "|saknar jag)[^.!?]{0,20} (?:tillgång till|åtkomst|uppkoppling|realtid|aktuella|dagsaktuella",
            r"|koppling|internet)|\binte (?:uppkopplad|ansluten|kopplad) (?:till|mot)|\bmin (?:kunskap",
            r"|träning|information|träningsdata)[^.!?]{0,30}(?:slutar|sträcker|upphör)|\b(?:aktuella",
            "|dagens) [^.!?]*(?:har jag inte|känner jag inte|vet jag inte)",
        ),
    ),
    Rule::new(
        "sv/other-topic",
        Deflect,
        Two,
        Flat(30),
        &SWEDISH_WORDS,
        concat!(
            r"\b(?:låt oss|ska vi|kan vi|vill du|kanske)[^.!?]*(?:något annat|annat ämne|andra ämnen",
            r"|byta ämne)|\b(?:lämna|släppa) (?:det här|detta|det) (?:ämnet)?",
        ),
    ),
];
