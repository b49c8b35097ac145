//! Polish and Russian. No word boundaries: the ASCII ones mean nothing here, so the patterns name whole words.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four};
use crate::refusal::rule::Signal::{Benign, Decline, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static POLISH: Pack = Pack {
    language: Language::Polish,
    cue: Pattern::new(
        "nie |niestety|przykro|przepraszam|odmawiam|odmówić|narusza|sprzeczn|żaden|żadnego|załącz|wklej",
        &[],
    ),
    rules: &[&POLISH_RULES],
};

static POLISH_WORDS: [Word; 1] = [(
    "act",
    concat!(
        "(?:pomóc|pomagać|podać|udzielić|wygenerować|generować|odpowiedzieć|odpowiadać|napisać|pisać",
        "|przetworzyć|spełnić|udostępnić|stworzyć|utworzyć|dostarczyć|zapewnić|wyjaśnić|przetłumaczyć",
        "|streścić|opisać|kontynuować|zrobić|wykonać|zrealizować|omawiać|uczestniczyć|doradzić",
        "|przygotować|ujawnić|zaoferować)",
    ),
)];

static POLISH_RULES: [Rule; 7] = [
    Rule::new(
        "pl/not-inability",
        Benign,
        Four,
        Flat(0),
        &POLISH_WORDS,
        r"nie (?:mogę|będę mógł|będę mogła) (?:przyjść|potwierdzić|uwierzyć|się doczekać|przybyć)",
    ),
    Rule::new(
        "pl/inability",
        Decline,
        Four,
        Opening(85, 70),
        &POLISH_WORDS,
        concat!(
            r"nie (?:mogę|jestem w stanie|będę mógł|będę mogła|będę|mogłbym|wolno mi|chcę",
            r"|potrafię)[^.!?]{0,35} <act>|nie (?:jestem|zostałem|zostałam) (?:upoważnion|uprawnion",
            r"|zaprogramowan|przeznaczon)|^(?:przykro mi|przepraszam|niestety),? (?:ale )?nie (?:mogę",
            r"|jestem)|nie mam (?:możliwości|uprawnień|pozwolenia)",
        ),
    ),
    Rule::new(
        "pl/will-not",
        Decline,
        Four,
        Opening(70, 55),
        &POLISH_WORDS,
        "nie (?:zrobię|napiszę|pomogę|podam|odpowiem|przetłumaczę|udzielę|stworzę|wykonam|ujawnię)",
    ),
    Rule::new(
        "pl/decline",
        Decline,
        Four,
        Opening(85, 70),
        &POLISH_WORDS,
        r"(?:muszę|wolę|wolałbym|pozwolę sobie) odmówić|odmawiam|wolę nie |wolałbym nie ",
    ),
    Rule::new(
        "pl/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &POLISH_WORDS,
        concat!(
            r"(?:narusza|sprzeczn[^ ]+ z|niezgodn[^ ]+ z|wbrew) (?:moj|nasz|zasad|polityk|regulamin",
            r"|wytyczn)|(?:ta|tej|twoja) (?:prośba|prośby) nie (?:może|można) (?:zostać )?(?:spełniona",
            r"|zrealizowana|przetworzona|spełnić)",
        ),
    ),
    Rule::new(
        "pl/apology",
        Support,
        First,
        Flat(20),
        &POLISH_WORDS,
        concat!(
            r"^(?:przykro mi,? (?:ale|nie)|przepraszam,? ale|niestety)|jako (?:model językowy",
            r"|sztuczna inteligencja|ai)",
        ),
    ),
    Rule::new(
        "pl/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &POLISH_WORDS,
        concat!(
            r"(?:nie (?:widzę|otrzymałem|otrzymałam|ma|znalazłem|dołączono)|brak)(?: [^ .]+)? (?:dokumentu",
            r"|tekstu|pliku|załącznika|obrazu|artykułu)|(?:proszę|czy możesz|mógłbyś|wklej|dołącz|prześlij",
            r"|załącz)[^.!?]{0,20} (?:dokument|tekst|plik|załącznik|obraz|artykuł|treść)",
        ),
    ),
];

pub(crate) static RUSSIAN: Pack = Pack {
    language: Language::Russian,
    cue: Pattern::new(
        "не |нет |извините|простите|сожалени|отказ|наруша|противореч|отклон|пожалуйста|невозможно",
        &[],
    ),
    rules: &[&RUSSIAN_RULES],
};

static RUSSIAN_WORDS: [Word; 1] = [(
    "act",
    concat!(
        "(?:помочь|помогать|помогу|предоставить|предоставлять|обработать|создавать|создать|ответить",
        "|отвечать|выполнить|выполнять|дать|давать|обсуждать|обсудить|написать|писать|поделиться",
        "|сгенерировать|генерировать|перевести|объяснить|описать|описывать|продолжить|участвовать",
        "|раскрывать|раскрыть|рассказать|рассказывать|сделать|делать|составить|предложить|сообщить",
        "|комментировать|поддерживать|резюмировать|подготовить|удовлетворить|содействовать)",
    ),
)];

static RUSSIAN_RULES: [Rule; 6] = [
    Rule::new(
        "ru/not-inability",
        Benign,
        Four,
        Flat(0),
        &RUSSIAN_WORDS,
        concat!(
            r"не (?:могу|смогу) (?:прийти|подтвердить|поверить|дождаться|представить|присутствовать",
            r"|приехать|не )",
        ),
    ),
    Rule::new(
        "ru/inability",
        Decline,
        Four,
        Opening(85, 70),
        &RUSSIAN_WORDS,
        concat!(
            r"(?:^|[ ,.])(?:я )?не (?:могу|в состоянии|смогу|имею права|буду|должен|должна|вправе|намерен",
            r"|хочу|готов|готова|способен|способна|мог бы)[^.!?]{0,35}<act>|(?:у меня нет",
            r"|не имею) (?:возможности|права|разрешения|полномочий)|^(?:извините|простите|к сожалению",
            r"|прошу прощения|мне жаль)[^.]{0,30} не (?:могу|смогу)|не (?:запрограммирован|уполномочен",
            r"|предназначен)",
        ),
    ),
    Rule::new(
        "ru/decline",
        Decline,
        Four,
        Opening(85, 70),
        &RUSSIAN_WORDS,
        concat!(
            r"(?:вынужден|вынуждена|должен|должна|придётся|придется|хочу|предпочту) (?:вам )?(?:отказать",
            r"|отклонить|воздержаться)|(?:^|[ ,])я? ?отказываюсь|воздержусь|предпочту не|предпочитаю не",
        ),
    ),
    Rule::new(
        "ru/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &RUSSIAN_WORDS,
        concat!(
            r"(?:противоречит|противоречат|нарушает|нарушают) (?:мои|моим|нашу|нашей|наши|нашим|политик",
            r"|правил)|(?:этот|ваш|данный) запрос не может быть (?:обработан|выполнен)|мои (?:правила",
            r"|принципы|инструкции) (?:не позволяют|запрещают)",
        ),
    ),
    Rule::new(
        "ru/apology",
        Support,
        First,
        Flat(20),
        &RUSSIAN_WORDS,
        concat!(
            r"^(?:извините,? (?:но|я)|простите,? (?:но|я)|к сожалению|прошу прощения,? но",
            r"|мне (?:очень )?жаль,? но)|как (?:языковая модель|искусственный интеллект|ии)",
        ),
    ),
    Rule::new(
        "ru/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &RUSSIAN_WORDS,
        concat!(
            r"(?:не (?:вижу|нашёл|нашел|получил|прикреплен|приложен)|нет",
            r"|отсутствует)(?: [^ .]+)? (?:документ|текст|файл|вложени|изображени|стать)|(?:пожалуйста",
            r"|можете|не могли бы)[^.!?]{0,30}(?:прикреп|пришл|вставь|отправь|предоставь|загруз",
            r"|прислать)[^.!?]{0,20}(?:документ|текст|файл|изображени|стать)|не могу (?:открыть|открывать",
            r"|перейти|просмотреть|получить доступ)[^.]{0,20}(?:ссылк|файл|вложени|сайт|интернет)",
        ),
    ),
];
