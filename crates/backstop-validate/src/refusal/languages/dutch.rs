//! Dutch. The verb that says what is declined comes last, so the rules reach across the clause.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Two};
use crate::refusal::rule::Signal::{Benign, Decline, Deflect, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static DUTCH: Pack = Pack {
    language: Language::Dutch,
    cue: Pattern::new(
        concat!(
            "niet|geen|spijt|helaas|weiger|afwijz|afslaan|strijd|schend|bijlage|verboden|nooit|onderwerp",
            "|anders|buiten|alleen|uitsluitend|geblokkeerd|tegengehouden|liever|stopt|eindigt|nee[ .,:;!]",
            "|bedank|weggelaten|afgekeurd|afzijdig|ontbre|mogelijk|laat ik|juiste",
        ),
        &[],
    ),
    rules: &[&DUTCH_RULES],
};

static DUTCH_WORDS: [Word; 5] = [
    (
        "act",
        concat!(
            r"(?:helpen|behulpzaam|van dienst|verstrekken|geven|genereren|staat\b|beantwoorden|antwoorden",
            "|schrijven|maken|bieden|delen|verwerken|uitvoeren|voldoen|vertalen|samenvatten|uitleggen",
            r"|bespreken|beschrijven|meewerken|doorgaan|opstellen|leveren|ondersteunen|assisteren|doen\b",
            "|bereid|bevoegd|gemachtigd|toegestaan|vrijgeven|adviseren|ingaan|produceren|weergeven",
            "|overnemen|overschrijven|citeren|kopiëren|voorlezen|transcriberen|uitschrijven|beoordelen",
            r"|inschatten|zeggen\b|vertellen|noemen|verklappen|onthullen|voortzetten|verdergaan|afmaken",
            "|bemiddelen|meedoen|deelnemen|helpen met|bijdragen|opnoemen|opsommen|uitspreken|uitlaten",
            r"|commentaar|oordelen|aanbevelen|aanraden|raden\b|voorspellen|identificeren|herkennen",
            "|ontwerpen|bedenken|verzinnen|spelen|tonen|laten zien|analyseren|berekenen|bekijken",
            "|beluisteren|luisteren|openbaren|publiceren|kiezen|beslissen|stelling nemen|behandelen",
            "|bewerken|herschrijven|parafraseren|verspreiden|plannen|begeleiden|verzetten|boeken",
            "|extraheren|invullen|inzien|afgeven|verlenen|toelichten|omschrijven|gehoor|inwilligen",
            "|honoreren|ingaan op|toezeggen|verzorgen|maken|nabootsen)",
        ),
    ),
    (
        "present",
        concat!(
            "(?:help|schrijf|vertaal|maak|geef|doe|werk|begin|lever|beantwoord|antwoord|beschrijf|noem",
            "|vertel|deel|zeg|speel|verzin|bedenk|produceer|genereer|transcribeer|citeer|beoordeel",
            "|behandel|bespreek|praat|ga|neem|kopieer|herhaal|onthul|identificeer|adviseer|spreek|laat)",
        ),
    ),
    (
        "thing",
        concat!(
            "(?:verzoek|vraag|aanvraag|invoer|opdracht|antwoord|uitvoer|inhoud|tekst|document|bestand",
            "|afbeelding|samenvatting|vertaling|verwerking|beschrijving|bijschrift|transcriptie|lijst",
            "|bericht|prompt|analyse|stappen|resultaat)",
        ),
    ),
    (
        "refused",
        concat!(
            "(?:geweigerd|afgewezen|geblokkeerd|tegengehouden|gefilterd|achtergehouden|weggelaten",
            "|overgeslagen|gestopt|afgekeurd|niet (?:[^ .]+ )?(?:verwerkt|beantwoord|uitgevoerd",
            "|gegenereerd|gemaakt|vertaald|samengevat|weergegeven|getoond|behandeld|ingewilligd|geleverd",
            "|verstrekt|opgesteld|overgenomen|mogelijk|toegestaan))",
        ),
    ),
    (
        "reason",
        concat!(
            "(?:richtlijn|beleid|veiligheid|voorwaarden|strijd|schend|privacy|persoonsgegevens",
            "|auteursrecht|gevoelig|gevaarlijk|schadelijk|verboden|illegaal|strafbaar|geweld",
            "|vertrouwelijk|haat|ongepast|misbruik|voorzorg|respect|gebruiksregels)",
        ),
    ),
];

static DUTCH_RULES: [Rule; 12] = [
    Rule::new(
        "nl/not-inability",
        Benign,
        Four,
        Flat(0),
        &DUTCH_WORDS,
        concat!(
            r"\bik (?:kan|kon|zal|ga) (?:[^ .]+ ){0,4}niet (?:[^ .]+ )?(?:komen|aanwezig|bevestigen",
            r"|geloven|wachten|opgeven|vinden|zien|deelnemen aan de (?:vergadering|bijeenkomst))\b",
            r"|\bik (?:geef|ga) (?:[^ .]+ )?niet (?:op|weg)\b",
            r"|\bgeen (?:[^ .,]+ ){1,3}?[^ .,]+, maar (?:gemiddeld|meestal|een |de |het |normaal|in ",
            r"|doorgaans)|\bgeen [^ .,]+ [^ .,]+, maar (?:gemiddeld|meestal|normaal)",
        ),
    ),
    Rule::new(
        "nl/inability",
        Decline,
        Four,
        Opening(85, 70),
        &DUTCH_WORDS,
        concat!(
            r"\bik (?:kan|mag|zal|ben|wil|ga|zou)\b[^.!?]*\b(?:niet|geen)\b[^.!?]* <act>|\b(?:kan|mag|zal",
            r"|wil|ben) ik\b[^.!?]*\b(?:niet|geen)\b[^.!?]* <act>|\bhet is mij niet (?:toegestaan",
            "|mogelijk)",
        ),
    ),
    Rule::new(
        "nl/plain-no",
        Decline,
        Four,
        Opening(70, 55),
        &DUTCH_WORDS,
        concat!(
            r"\b(?:dat|dit|daar) (?:doe|help|schrijf|maak|geef|vertaal) ik (?:[^ .]+ ){0,2}(?:niet|geen)",
            r"|\bik <present> [^.!?]*\b(?:niet|geen)\b|\b(?:<present>|kan|mag|wil|zal",
            r"|ga) ik (?:[^ .]+ ){0,5}?(?:niet|geen|nooit)\b(?: letterlijk| voor (?:u|je|jou)\b",
            r"| (?:[^ .]+ ){0,2}(?:weer|over|uit|op|verder|mee)\b| (?:aan |bij |over |op )?(?:mee|aan|doen",
            r"|over)\b|[.,;:!]| <act>| [^.!?]{0,20}(?:advies|uitspraken|informatie|mening|oordeel|teksten",
            r"|instructies))|\b(?:is|blijft) (?:voor mij )(?:niet (?:mogelijk|aan de orde|bespreekbaar)",
            r"|geen optie|taboe|onmogelijk)|\bis niet aan mij\b|\bkomt mij niet toe\b|\b(?:houd",
            r"|hou) (?:ik )?(?:me|mij) (?:[^ .]+ ){0,3}(?:buiten|afzijdig)|\b(?:begin",
            r"|waag) ik (?:me )?niet aan\b|\b(?:ga|zal|wil",
            r"|mag) ik (?:[^ .!?,]+ ){0,5}niet (?:[^ .!?,]+ ){0,6}[^ .!?,]+en(?:[.,;!]|$)|\bik (?:ga|zal",
            "|wil|mag) (?:[^ .!?,]+ ){0,6}niet (?:[^ .!?,]+ ){0,6}[^ .!?,]+en(?:[.,;!]|$)",
            r"|\blaat ik (?:[^ .]+ ){0,4}(?:over )?aan (?:je|uw|een|anderen)\b|\bben ik niet de juiste\b",
            r"|\bik ben (?:[^ .]+ )?niet de juiste\b",
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
            r"|wijs (?:dit|dat|deze|je|uw) [^.!?]{0,20}af)\b|\b(?:moet|wil|ga",
            r"|zal) ik (?:[^.!?]* )?(?:weigeren|afwijzen|afslaan|bedanken|passen|nee zeggen)\b",
            r"|\bik (?:bedank|pas|weiger|onthoud|zie)\b[^.!?]{0,30}(?:hiervoor|ervan af|hier|me van",
            r"|mij van|dit|om )|\bik (?:zou|wil|heb) (?:[^ .]+ ){0,4}liever niet\b",
            r"|\bhet antwoord (?:blijft|is en blijft) nee\b|\bik moet [^.!?]*nee (?:op )?zeggen\b",
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
            "|ingewilligd|uitgevoerd)|^(?:niet toegestane|ongeoorloofde|verboden) inhoud",
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
            "|wilt u|wil je)[^.!?]{0,15} (?:het|de|een|uw|je) (?:document|tekst|bestand|bijlage",
            "|afbeelding|factuur)[^.!?]{0,15}(?:plakken|toevoegen|sturen|delen|uploaden|bijvoegen)",
            r"|\b(?:voeg|plak|stuur|upload|deel) (?:alstublieft |a\.u\.b\. )?(?:het|de|een|uw",
            r"|je) (?:document|tekst|bestand|bijlage|afbeelding)|\b(?:kan|kon) (?:ik )?(?:de|die|het|uw",
            r"|je) (?:link|url|webpagina|bijlage)[^.]{0,14}niet (?:openen|bekijken|lezen)|\b(?:link|url",
            "|bijlage) kan ik niet openen",
        ),
    ),
    Rule::new(
        "nl/beyond-my-scope",
        Obstacle,
        Four,
        Flat(55),
        &DUTCH_WORDS,
        concat!(
            r"\b(?:valt|ligt|gaat) (?:buiten|verder dan|niet binnen) (?:mijn|wat ik|hetgeen ik",
            r"|de taken van deze)|\bniet iets (?:wat|dat|waar) ik\b|\biets (?:wat|dat",
            r"|waar) ik (?:[^ .]+ ){0,4}(?:niet|geen)\b",
        ),
    ),
    Rule::new(
        "nl/refused-by-machine",
        Obstacle,
        Four,
        Flat(60),
        &DUTCH_WORDS,
        concat!(
            "<thing>[^.!?]* <refused>[^.!?]*(?:[.] ?[^.!?]*)?<reason>",
            r"|<reason>[^.!?]*<thing>[^.!?]* <refused>|\b(?:geen|er (?:is|wordt",
            "|werd) geen) (?:[^ .]+ )?<thing> (?:[^ .]+ )?(?:gemaakt|gegenereerd|gegeven|verstrekt",
            "|geleverd|opgesteld|mogelijk)|<thing> (?:[^ .]+ )?(?:geblokkeerd|tegengehouden",
            "|gefilterd) door|<thing> <refused>:|<thing>[^.!?]*<reason>[^.!?]* ?<refused>",
        ),
    ),
    Rule::new(
        "nl/assistant-does-not",
        Decline,
        Four,
        Flat(60),
        &DUTCH_WORDS,
        concat!(
            r"\b(?:deze|dit|onze) (?:[^ .]+ )?(?:[a-z-]*assistent|[a-z-]*chatbot|bot|taalmodel",
            r"|ai-model)\b[^.!?]*\b(?:niet|geen|alleen|uitsluitend|enkel|weigert)\b",
            r"|\b(?:de (?:[a-z-]*assistent|chatbot|bot)|[a-z]{2,16}bot) (?:beantwoordt|geeft|doet",
            r"|behandelt|verwerkt|helpt|mag|kan|weigert|spreekt|antwoordt|is)\b[^.!?]*\b(?:niet|geen",
            r"|alleen|uitsluitend|enkel)\b",
        ),
    ),
    Rule::new(
        "nl/no-live-data",
        Decline,
        Four,
        Flat(55),
        &DUTCH_WORDS,
        concat!(
            r"\b(?:ik (?:heb|beschik)|heb ik|beschik ik)\b[^.!?]*\b(?:geen|niet)[^.!?]{0,30}(?:toegang",
            r"|verbinding|actuele|live|realtime|real-time|internet|agenda)|\b(?:actuele|live|realtime",
            "|real-time) [^.!?]*(?:niet beschikbaar|heb ik niet|ken ik niet|kan ik niet)",
            r"|\bniet (?:met het internet |op het internet |met internet )?(?:verbonden|aangesloten)",
            r"|\bvoor mij niet (?:beschikbaar|toegankelijk)|\bmijn (?:kennis|trainingsdata|gegevens",
            r"|informatie)[^.!?]{0,30}(?:stopt|eindigt|loopt tot|reikt)|\b(?:ontbreekt",
            r"|ontbreken) (?:het )?mij\b|\bmij (?:ontbreekt|ontbreken)",
        ),
    ),
    Rule::new(
        "nl/other-topic",
        Deflect,
        Two,
        Flat(30),
        &DUTCH_WORDS,
        concat!(
            r"\b(?:laten we|zullen we|kunnen we|misschien|liever|wil je|wilt u)[^.!?]*(?:iets anders",
            r"|ander onderwerp|andere onderwerpen|onderwerp)|\b(?:dit|het) onderwerp [^.!?]{0,20}(?:laten",
            "|rusten|afsluiten)",
        ),
    ),
];
