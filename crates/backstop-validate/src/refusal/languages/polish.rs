//! Polish. No word boundaries: the ASCII ones mean nothing here, so the patterns name whole words.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Two};
use crate::refusal::rule::Signal::{Benign, Decline, Deflect, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static POLISH: Pack = Pack {
    language: Language::Polish,
    cue: Pattern::new(
        concat!(
            "nie |niestety|przykro|przepraszam|odmawiam|odmówić|narusza|sprzeczn|żaden|żadnego|załącz",
            r"|wklej|nie,|nie\.|temat|czymś innym|odrzucon|zablokowan|odmow|wykracza|wychodzi|poza |tylko",
            "|wyłącznie|jedynie|powstrzyma|wstrzyma|wolał|kończ|brak|pominięt|uchyl|rezygnuj|niedozwol",
            "|zabronion|ręki|niemożliw|wykluczon|żadna|żadne|odmó",
        ),
        &[],
    ),
    rules: &[&POLISH_RULES],
};

static POLISH_WORDS: [Word; 6] = [
    (
        "act",
        concat!(
            "(?:pomóc|pomagać|podać|udzielić|wygenerować|generować|odpowiedzieć|odpowiadać|napisać|pisać",
            "|przetworzyć|spełnić|udostępnić|stworzyć|utworzyć|dostarczyć|zapewnić|wyjaśnić|przetłumaczyć",
            "|streścić|opisać|kontynuować|zrobić|wykonać|zrealizować|omawiać|uczestniczyć|doradzić",
            "|przygotować|ujawnić|zaoferować|przytoczyć|przytaczać|przepisać|przepisywać|cytować",
            "|zacytować|odtworzyć|odczytać|przeczytać|ocenić|oceniać|powiedzieć|mówić|zdradzić|wymienić",
            "|wymieniać|podawać|wskazać|wskazywać|zidentyfikować|rozpoznać|kontynuować|dokończyć",
            "|komentować|skomentować|interpretować|zinterpretować|analizować|przeanalizować|odsłuchać",
            "|wysłuchać|wyświetlić|opublikować|rozstrzygać|rozstrzygnąć|wybierać|wybrać|decydować",
            "|zdecydować|doradzać|radzić|polecić|polecać|rekomendować|zalecić|zalecać|sugerować",
            "|zasugerować|przewidzieć|zgadywać|obliczyć|współpracować|przyłożyć|brać udziału",
            "|wziąć udziału|pomagać|opracować|przerobić|przeredagować|sparafrazować|zmyślać|wymyślić",
            "|zaprojektować|narysować|wcielić|odgrywać|zagrać|udawać|zajmować|zająć|wypowiadać",
            "|wypowiedzieć|rozmawiać|dyskutować|dzielić|podzielić|opisywać|tłumaczyć|streszczać",
            "|wyodrębnić|wydobyć|przekazać|zdiagnozować|przepisać|angażować|wspierać|popierać|tworzyć",
            "|sporządzić|zestawić|uczyć|nauczyć|instruować|odpowiedzi|porad|informacji|pomocy)",
        ),
    ),
    (
        "fut",
        concat!(
            "(?:zrobię|napiszę|pomogę|podam|odpowiem|przetłumaczę|udzielę|stworzę|wykonam|ujawnię",
            "|przytoczę|przepiszę|zacytuję|odtworzę|przeczytam|ocenię|powiem|zdradzę|wymienię|wskażę",
            "|zidentyfikuję|rozpoznam|dokończę|skomentuję|zinterpretuję|przeanalizuję|opublikuję",
            "|rozstrzygnę|wybiorę|doradzę|poradzę|polecę|zalecę|zasugeruję|obliczę|przyłożę|wezmę udziału",
            "|opracuję|wymyślę|zaprojektuję|narysuję|wcielę|zagram|zajmę|wypowiem|podzielę|opiszę",
            "|streszczę|wyodrębnię|przekażę|zdiagnozuję|zaangażuję|sporządzę|przygotuję|wygeneruję",
            "|udostępnię|wyjaśnię|opowiem|spełnię|poprę|nauczę)",
        ),
    ),
    (
        "present",
        concat!(
            "(?:piszę|pomagam|podaję|odpowiadam|tłumaczę|udzielam|tworzę|wykonuję|ujawniam|przytaczam",
            "|cytuję|oceniam|wskazuję|identyfikuję|komentuję|interpretuję|doradzam|polecam|zalecam",
            "|rekomenduję|biorę udziału|współpracuję|zajmuję się|wypowiadam|rozmawiam|dyskutuję|opisuję",
            "|streszczam|generuję|udostępniam|wyrażam|publikuję|angażuję|wspieram|omawiam)",
        ),
    ),
    (
        "thing",
        concat!(
            "(?:zapytani[ea]|prośb[aęy]|żądani[ea]|wiadomoś[ćc]i?|odpowied[źz]i?|treś[ćc]i?|tekstu?",
            "|dokumentu?|pliku?|obrazu?|streszczeni[ea]|podsumowani[ea]|tłumaczeni[ea]|przetwarzani[ea]",
            "|opisu?|podpisu?|transkrypcj[aię]|list[aęy]|analiz[aęy]|polece(?:nie|nia)|wynik(?:i|u)?",
            "|krok(?:i|ów))",
        ),
    ),
    (
        "refused",
        concat!(
            "(?:odrzucon[aeyo]|odmówiono|zablokowan[aeyo]|wstrzyman[aeyo]|odfiltrowan[aeyo]",
            "|pominięt[aeyo]|zatrzyman[aeyo]|nie (?:może|mogą|mogło|mogła|mógł|został[aoy]?|zostanie",
            "|zostaną|będzie|będą|można|powstanie|powstał[aoy]?|udało się)(?: (?:być|zostać",
            "|zosta[^ ]+))?(?: [^ .]+(?:n[aeyio]|t[aeyo]|ć))?)",
        ),
    ),
    (
        "reason",
        concat!(
            "(?:zasad|polityk|regulamin|wytyczn|bezpieczeństw|prywatnoś|danych osobowych|dane osobowe",
            "|wrażliw|praw[aoe]? autors|prawem autors|niebezpiecz|szkodliw|zakazan|nielegaln|przemoc",
            "|poufn|nienawi|nieodpowiedni|ostrożnoś|szacun|narusz|niedozwolon|moderacj|przepis)",
        ),
    ),
];

static POLISH_RULES: [Rule; 12] = [
    Rule::new(
        "pl/not-inability",
        Benign,
        Four,
        Flat(0),
        &POLISH_WORDS,
        concat!(
            "nie (?:mogę|będę mógł|będę mogła) (?:przyjść|potwierdzić|uwierzyć|się doczekać|przybyć)",
            "|nie (?:mogę|potrafię) (?:[^ .]+ )?(?:uwierzyć|znaleźć|czekać|zostać)|nie (?:przyjdę|zapomnę",
            "|poddam|wrócę)|nie (?:mam|znam) [^.,]*, ale (?:średnio|zwykle|zazwyczaj|przeciętnie)",
        ),
    ),
    Rule::new(
        "pl/inability",
        Decline,
        Four,
        Opening(85, 70),
        &POLISH_WORDS,
        concat!(
            "nie (?:mogę|jestem w stanie|będę mógł|będę mogła|będę|mógłbym|mogłabym|mogłbym|wolno mi|chcę",
            "|chciałbym|chciałabym|potrafię|zamierzam|powinienem|powinnam|umiem|podejmę się|podejmuję się",
            "|czuję się|mam prawa|wypada mi|śmiem)[^.!?]{0,35} <act>|nie (?:jestem|zostałem",
            "|zostałam) (?:upoważnion|uprawnion|zaprogramowan|przeznaczon)|^(?:przykro mi|przepraszam",
            "|niestety),? (?:ale )?nie (?:mogę|jestem)|nie mam (?:możliwości|uprawnień|pozwolenia)",
            "|nie (?:jestem|czuję się) (?:[^ .]+ )?(?:osobą|kompetentn|właściw|połączon|podłączon|gotow",
            "|skłonn)|nie mam (?:[^ .]+ )?(?:jak |sposobu|dostępu|możliwości|uprawnień|prawa|kompetencji",
            "|zgody)|nie (?:do mnie|mnie) (?:należy|oceniać|decydować)|nie (?:jest|to) (?:moja|moją|mój",
            "|moim) (?:rol|zadani|spraw)|nie (?:moja|mój) (?:rola|sprawa)|(?:^|[ ,])nie wolno mi |(?:jest",
            "|byłoby) (?:dla mnie )(?:niemożliwe|wykluczone|niedopuszczalne)|ręki do (?:tego|niego",
            "|niej) nie (?:przyłożę|przyłożyłbym)|nie (?:jest to|to) coś, (?:co|w czym)",
            "|to coś, czego nie (?:zrobię|robię|mogę)|nie przyłożę|nie podejm(?:ę|uję) się",
        ),
    ),
    Rule::new(
        "pl/will-not",
        Decline,
        Four,
        Opening(70, 55),
        &POLISH_WORDS,
        concat!(
            "nie (?:tego |ci |panu |pani |państwu |jej |go |ich |się )*(?:<fut>|<present>)",
            "|(?:moja )?odpowiedź (?:brzmi|pozostaje|to) (?:[^ .]+ )?nie(?:[ .,!]|$)",
        ),
    ),
    Rule::new(
        "pl/decline",
        Decline,
        Four,
        Opening(85, 70),
        &POLISH_WORDS,
        concat!(
            "(?:muszę|wolę|wolałbym|pozwolę sobie) odmówić|odmawiam|wolę nie |wolałbym nie |(?:muszę|wolę",
            "|będę musiał|będę musiała|zmuszony jestem|jestem zmuszon[ya]|pozwolę sobie) (?:tu |tutaj ",
            "|to |tej prośbie |[^ .]+ )?(?:odmówić|powiedzieć nie|zrezygnować|odrzucić|powstrzymać)",
            "|(?:wolałbym|wolałabym|wolę) (?:[^ .]+ )?(?:nie |zostawić|zmienić|pominąć)|powstrzymam się",
            "|wstrzymam się|odmówię|rezygnuję z|uchylam się|uchylę się",
        ),
    ),
    Rule::new(
        "pl/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &POLISH_WORDS,
        concat!(
            "(?:narusza|sprzeczn[^ ]+ z|niezgodn[^ ]+ z|wbrew) (?:moj|nasz|zasad|polityk|regulamin",
            "|wytyczn)|(?:ta|tej|twoja) (?:prośba|prośby) nie (?:może|można) (?:zostać )?(?:spełniona",
            "|zrealizowana|przetworzona|spełnić)|^(?:niedozwolona|zabroniona|niedopuszczalna",
            "|nieodpowiednia) treść|^(?:odmowa|odrzucono)[^.!?]*<reason>",
        ),
    ),
    Rule::new(
        "pl/apology",
        Support,
        First,
        Flat(20),
        &POLISH_WORDS,
        concat!(
            "^(?:przykro mi,? (?:ale|nie)|przepraszam,? ale|niestety)|jako (?:model językowy",
            "|sztuczna inteligencja|ai)",
        ),
    ),
    Rule::new(
        "pl/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &POLISH_WORDS,
        concat!(
            "(?:nie (?:widzę|otrzymałem|otrzymałam|ma|znalazłem|dołączono)|brak)(?: [^ .]+)? (?:dokumentu",
            "|tekstu|pliku|załącznika|obrazu|artykułu)|(?:proszę|czy możesz|mógłbyś|wklej|dołącz|prześlij",
            "|załącz)[^.!?]{0,20} (?:dokument|tekst|plik|załącznik|obraz|artykuł|treść)|nie (?:mogę",
            "|mam możliwości|potrafię|udało)[^.]{0,12}(?:otworzyć|otwierania|otwierać",
            "|odczytać) (?:[^ .]+ )?(?:link|plik|załącznik|adres|stron)",
        ),
    ),
    Rule::new(
        "pl/beyond-my-scope",
        Obstacle,
        Four,
        Flat(55),
        &POLISH_WORDS,
        concat!(
            "(?:wykracza|wykraczają|wychodzi) poza (?:moj|mój|to, co mog|zakres)|(?:nie mieści|nie leży",
            "|nie należy)[^.!?]{0,20}(?:moich|moim|mojego|mojej)|poza moim",
        ),
    ),
    Rule::new(
        "pl/refused-by-machine",
        Obstacle,
        Four,
        Flat(60),
        &POLISH_WORDS,
        concat!(
            "<thing>[^.!?]* <refused>[^.!?]*(?:[.] ?[^.!?]*)?<reason>|<reason>[^.!?]*(?:<thing>|nazwisk",
            "|dan[ey]|sekcj)[^.!?]* <refused>|(?:żadn[aey] (?:[^ .]+ )?<thing> nie (?:zosta[^ ]+",
            "|będzie) (?:wygenerowan|utworzon|udzielon|przygotowan|podan)|nie (?:wygenerowano|utworzono",
            "|przygotowano|sporządzono|udzielono|przetworzono|udostępniono) (?:[^ .]+ )?<thing>)",
            "|<thing> (?:zablokowan|odrzucon)[aeyo] (?:przez|:)|odmow[aęy] (?:przetworzenia|przetwarzania",
            "|odpowiedzi|wykonania|realizacji)|<thing>[^.!?]{0,30}nie (?:powstanie|będzie możliw",
            "|jest możliw|zostanie (?:udzielon|przygotowan|wygenerowan|udostępnion))",
            "|<thing>[^.!?]*<reason>[^.!?]* ?<refused>",
        ),
    ),
    Rule::new(
        "pl/assistant-does-not",
        Decline,
        Four,
        Flat(60),
        &POLISH_WORDS,
        concat!(
            "(?:^|[ .])(?:ten|nasz) (?:[^ .]+ )?(?:asystent|chatbot|czatbot|bot",
            "|model językowy)[^.!?]* (?:nie|tylko|wyłącznie|jedynie|odmawia) |(?:^|[ .])(?:asystent",
            "|chatbot|czatbot|bot|[a-z]{2,16}bot) (?:nie (?:odpowiada|udziela|zajmuje|komentuje|może",
            "|wyraża|obsługuje|ocenia)|odmawia|(?:odpowiada|obsługuje|pomaga",
            "|udziela)[^.!?]{0,20} (?:tylko|wyłącznie|jedynie))",
        ),
    ),
    Rule::new(
        "pl/no-live-data",
        Decline,
        Four,
        Flat(55),
        &POLISH_WORDS,
        concat!(
            "nie (?:mam|posiadam|dysponuję|jestem|znam)[^.!?]{0,30}(?:dostępu|czasie rzeczywistym|aktualn",
            "|bieżąc|na żywo|połączon|podłączon|internet|łączności)|(?:moja wiedza|moje dane",
            "|moje informacje)[^.!?]{0,30}(?:kończy|kończą|sięga|ogranicza|urywa)",
            "|brak(?:uje)? mi (?:[^ .]+ )?(?:dostępu|danych|informacji|narzędzi|możliwości)",
        ),
    ),
    Rule::new(
        "pl/other-topic",
        Deflect,
        Two,
        Flat(30),
        &POLISH_WORDS,
        concat!(
            "(?:porozmawiajmy|porozmawiamy|porozmawiać|pomówmy|przejdźmy|zmieńmy|zmienić",
            "|pogadajmy)[^.!?]{0,25}(?:czymś innym|innym temacie|innego tematu|temat|czegoś innego)",
            "|inny temat|(?:zostawmy|zostawić|zakończmy)[^.!?]{0,20}temat",
        ),
    ),
];
