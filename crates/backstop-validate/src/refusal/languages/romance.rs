//! French, Italian, Spanish and Portuguese. The subject may be silent, so the verb's person carries the rule.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Two};
use crate::refusal::rule::Signal::{Benign, Decline, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static FRENCH: Pack = Pack {
    language: Language::French,
    cue: Pattern::new(
        concat!(
            "je ne |je n'|je refuse|refuser|décliner|désolé|regrette|contraire|encontre|enfreint|viole",
            "|m'est |demande|document|fichier|pièce jointe|lien|m'abst",
        ),
        &[],
    ),
    rules: &[&FRENCH_RULES],
};

static FRENCH_WORDS: [Word; 2] = [
    (
        "adv",
        concat!(
            "(?:(?:malheureusement|vraiment|simplement|tout simplement|toutefois|donc|hélas|absolument",
            "|en aucun cas|actuellement|pas|point|plus|jamais),? ){0,3}",
        ),
    ),
    (
        "act",
        concat!(
            "(?:aider|assister|fournir|donner|répondre|traiter|produire|générer|participer|créer|rédiger",
            "|écrire|discuter|proposer|offrir|partager|divulguer|expliquer|conseiller|poursuivre",
            "|continuer|accéder à (?:cette|votre|ta) (?:demande|requête)|satisfaire|résumer|traduire",
            "|extraire|effectuer|soutenir|encourager|promouvoir|accompagner|communiquer|révéler|décrire",
            "|faire (?:cela|ça|ce)|exécuter|élaborer|donner suite|accepter|commenter|engager|indiquer",
            "|prendre part|formuler|suggérer|recommander|accomplir|remplir)",
        ),
    ),
];

static FRENCH_RULES: [Rule; 8] = [
    Rule::new(
        "fr/not-inability",
        Benign,
        Four,
        Flat(0),
        &FRENCH_WORDS,
        concat!(
            r"\bje (?:ne|n') ?(?:peux|pourrai|puis) (?:pas |que )(?:confirmer|venir|attendre|croire",
            r"|imaginer|assister (?:à|au)|vous remercier assez|m'empêcher|me rendre|être présent)",
        ),
    ),
    Rule::new(
        "fr/inability",
        Decline,
        Four,
        Opening(85, 70),
        &FRENCH_WORDS,
        concat!(
            r"\bje (?:ne |n')(?:peux|puis|pourrai|pourrais|saurai|saurais|vais|souhaite|veux)(?: pas",
            r"| point| plus| en aucun cas)?[^.!?]{0,60}[ ']<act>|\bje (?:ne )?(?:suis|serai",
            r"|serais) <adv>(?:pas|point|plus) <adv>(?:en mesure|capable|autorisé|habilité|à même|disposé",
            r"|conçu|programmé|en capacité|censé)|\bje n'ai pas (?:la (?:capacité|possibilité|permission)",
            r"|le droit|l'autorisation) |\bje ne (?:fournirai|donnerai|répondrai|participerai|produirai",
            r"|rédigerai|créerai|fournis|génère|donne|produis) pas\b|il (?:ne )?m'est (?:pas ",
            r"|malheureusement )?(?:possible|permis|impossible|interdit) (?:de |d')",
        ),
    ),
    Rule::new(
        "fr/will-not",
        Decline,
        Two,
        Opening(70, 55),
        &FRENCH_WORDS,
        concat!(
            r"\bje ne (?:le |la |les |vous |te |l')?(?:traduirai|rédigerai|écrirai|fournirai|donnerai|répondrai|ferai|créerai",
            r"|aiderai|participerai|produirai|générerai|révélerai|partagerai|commenterai) (?:pas|rien)\b",
        ),
    ),
    Rule::new(
        "fr/decline",
        Decline,
        Four,
        Opening(85, 70),
        &FRENCH_WORDS,
        concat!(
            r"\bje (?:me (?:dois|vois obligée?|vois contrainte?) (?:de )?|dois |préfère |suis (?:obligée?",
            r"|contrainte?|tenue?) de |vais devoir )?(?:refuser|refuse|décliner|décline|m'abstenir",
            r"|m'abstiens)\b",
        ),
    ),
    Rule::new(
        "fr/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &FRENCH_WORDS,
        concat!(
            r"(?:à l'encontre de|contraire à|enfreint|viole|respecte pas|contrevient à) (?:mes|nos",
            r"|la politique|les (?:règles|conditions) d'utilisation) ?(?:règles|principes|directives",
            r"|politiques?|valeurs|consignes|conditions)?|\bcette (?:demande",
            r"|requête) ne peut (?:pas )?être (?:traitée|satisfaite|acceptée)|mes (?:règles|principes",
            r"|directives|consignes) (?:ne me permettent pas|m'interdisent|m'empêchent)",
        ),
    ),
    Rule::new(
        "fr/apology",
        Support,
        First,
        Flat(20),
        &FRENCH_WORDS,
        concat!(
            r"^(?:je suis )?(?:vraiment |sincèrement )?(?:désolée?|navrée?)[^.]{0,12}\b(?:mais|je ne)",
            r"|^(?:je regrette|malheureusement|je m'excuse|toutes mes excuses)",
        ),
    ),
    Rule::new(
        "fr/as-an-ai",
        Support,
        Two,
        Flat(20),
        &FRENCH_WORDS,
        concat!(
            r"en tant (?:que |qu')(?:modèle|intelligence artificielle|ia\b|assistant)|je suis une? (?:ia",
            r"|intelligence artificielle|modèle de langage)",
        ),
    ),
    Rule::new(
        "fr/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &FRENCH_WORDS,
        concat!(
            r"\b(?:aucun|pas de|pas reçu (?:de|le|la)|ne vois (?:pas|aucun[^ ]*)(?: de| le)?) ?(?:document",
            r"|texte|fichier|pièce jointe|image|article|contenu)|\b(?:veuillez|merci de|pouvez-vous",
            r"|pourriez-vous|peux-tu|pourrais-tu)(?: me| nous)? (?:joindre|fournir|envoyer|coller|partager",
            r"|télécharger|transmettre) (?:le|la|l'|un|une|votre|ton) ?(?:document|texte|fichier",
            r"|pièce jointe|image|article|contenu|facture)|\bje ne (?:peux|puis) pas (?:ouvrir|accéder",
            r"|consulter|lire|voir) [^.]{0,20}(?:lien|url|fichier|pièce jointe|image|internet)",
        ),
    ),
];

pub(crate) static ITALIAN: Pack = Pack {
    language: Language::Italian,
    cue: Pattern::new(
        concat!(
            "non |rifiut|declin|spiacen|dispiace|scusa|purtroppo|violazione|viola |contro le|contraria",
            "|nessun|allega|impossibile|preferisco",
        ),
        &[],
    ),
    rules: &[&ITALIAN_RULES],
};

static ITALIAN_WORDS: [Word; 1] = [(
    "act",
    "(?:aiut[^ ,.]+|fornir[^ ,.]*|dar(?:e|ti|vi|le)?\\b|assist[^ ,.]+|risponder[^ ,.]*|crea(?:re|zione)|generar[^ ,.]*|scriver[^ ,.]*|elaborar[^ ,.]*|soddisfare|partecipare|proceder[^ ,.]*|offrir[^ ,.]*|continuare|condivider[^ ,.]*|discuter[^ ,.]*|supportar[^ ,.]*|consigliar[^ ,.]*|spiegar[^ ,.]*|tradur[^ ,.]*|riassumer[^ ,.]*|estrarre|eseguire|completare|produrre|redigere|rivelare|descriver[^ ,.]*|promuovere|incoraggiare|comment[^ ,.]+|accettare|esaudire|suggerir[^ ,.]*|indicar[^ ,.]*|farlo|accontentar[^ ,.]*|trattare|divulgare|accogliere)",
)];

static ITALIAN_RULES: [Rule; 8] = [
    Rule::new(
        "it/not-inability",
        Benign,
        Four,
        Flat(0),
        &ITALIAN_WORDS,
        concat!(
            r"\bnon (?:posso|riesco|potrò) (?:a )?(?:confermare|venire|credere|immaginare|aspettare",
            r"|fare a meno|essere presente|ringraziar)",
        ),
    ),
    Rule::new(
        "it/inability",
        Decline,
        Four,
        Opening(85, 70),
        &ITALIAN_WORDS,
        concat!(
            r"\bnon (?:posso|potrò|potrei|riesco|intendo|voglio|vorrei|dovrei|mi è possibile",
            r"|mi è (?:permesso|consentito)) [^.!?]{0,40}\b<act>|\bnon (?:sono|sarei",
            r"|sarò) (?:[^ .]+ )?(?:in grado|autorizzat[^ ]|programmat[^ ]|abilitat[^ ]|dispost[^ ]",
            r"|progettat[^ ]|tenut[^ ])|\bnon (?:ti |vi |le )?(?:fornirò|darò|risponderò|scriverò|creerò",
            r"|genererò|parteciperò|aiuterò|fornisco|genero) |^(?:mi dispiace|spiacente|scusa",
            r"|purtroppo),? (?:ma )?non (?:posso|sono)|^non posso (?:farlo|aiut)|non ho (?:la capacità",
            r"|il permesso|l'autorizzazione) ",
        ),
    ),
    Rule::new(
        "it/plain-no",
        Decline,
        Two,
        Opening(70, 55),
        &ITALIAN_WORDS,
        concat!(
            r"\bnon (?:lo |ti |vi )?(?:traduco|scrivo|rispondo|aiuto|fornisco|genero|faccio|farò|tradurrò) ?(?:[^ .]+ ){0,2}?(?:lettere|testi",
            r"|contenuti|informazioni|richieste|domande|questo|questa|consigli|[.!]|$)",
        ),
    ),
    Rule::new(
        "it/decline",
        Decline,
        Four,
        Opening(85, 70),
        &ITALIAN_WORDS,
        concat!(
            r"\b(?:mi rifiuto|devo (?:rifiutar|declinare)|sono costrett[^ ] a (?:rifiutar|declinare)",
            r"|preferisco non|mi vedo costrett|mi astengo)",
        ),
    ),
    Rule::new(
        "it/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &ITALIAN_WORDS,
        concat!(
            r"\b(?:contro le|contraria alle|viola(?:no|re)? (?:le|la)|violazione (?:delle|della)",
            r"|non rispetta le) (?:mie |nostre )?(?:linee guida|regole|politiche|norme|politica|policy)",
            r"|\bquesta richiesta non può essere (?:elaborata|soddisfatta|accolta)|le mie (?:linee guida",
            r"|regole|istruzioni) (?:non mi (?:permettono|consentono)|mi (?:vietano|impediscono))",
        ),
    ),
    Rule::new(
        "it/apology",
        Support,
        First,
        Flat(20),
        &ITALIAN_WORDS,
        r"^(?:mi dispiace,? (?:ma|non)|spiacente|purtroppo|mi scuso|chiedo scusa)",
    ),
    Rule::new(
        "it/as-an-ai",
        Support,
        Two,
        Flat(20),
        &ITALIAN_WORDS,
        concat!(
            r"\b(?:come|in quanto|essendo|sono) (?:un |un'|una )?(?:modello (?:linguistico|di)",
            r"|intelligenza artificiale|ia\b|assistente)",
        ),
    ),
    Rule::new(
        "it/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &ITALIAN_WORDS,
        concat!(
            r"\bnon (?:vedo|trovo|ho ricevuto|è (?:stato )?(?:allegato|presente)",
            r"|risulta) (?:[^ .]+ )?(?:documento|testo|file|allegato|immagine|articolo)",
            r"|\bnessun (?:documento|testo|file|allegato)|\b(?:puoi|potresti|può|potrebbe",
            r"|per favore)(?: per favore)? ?(?:allega|incolla|carica|invia|forni|condivid)[^ .]* (?:il|lo",
            r"|la|l'|un) ?(?:documento|testo|file|allegato|immagine|articolo|contenuto|fattura)",
            r"|\bnon posso (?:aprire|accedere|visitare|visualizzare|leggere) [^.]{0,20}(?:link|url|file",
            r"|allegat|immagin|internet)",
        ),
    ),
];

pub(crate) static SPANISH: Pack = Pack {
    language: Language::Spanish,
    cue: Pattern::new(
        concat!(
            "no puedo|no podr|no estoy|no me |no debo|no voy|no soy|no tengo|no es |no se |no veo|no hay",
            "|no proporcion|no genero|niego|neg[óo]|rechaz|declin|rehús|rehus|lamento|lo siento|disculp",
            "|en contra|viola|infringe|imposible|incumple|adjunt|ningún|pega |prefiero|puedo hacer|abstengo",
        ),
        &[],
    ),
    rules: &[&SPANISH_RULES],
};

static SPANISH_WORDS: [Word; 1] = [(
    "act",
    "(?:ayud[^ ,.]+|proporcion[^ ,.]+|dar(?:te|le|les|los|la)?\\b|gener[^ ,.]+|crear[^ ,.]*|cumplir[^ ,.]*|respond[^ ,.]+|asist[^ ,.]+|ofrec[^ ,.]+|compart[^ ,.]+|escribir[^ ,.]*|proces[^ ,.]+|facilit[^ ,.]+|continu[^ ,.]+|redact[^ ,.]+|traducir[^ ,.]*|resum[^ ,.]+|extra[^ ,.]+|explic[^ ,.]+|describ[^ ,.]+|particip[^ ,.]+|complet[^ ,.]+|atend[^ ,.]+|realizar|hacer(?:lo)?\\b|revel[^ ,.]+|divulg[^ ,.]+|apoyar|promover|habl[^ ,.]+|coment[^ ,.]+|produc[^ ,.]+|coment[^ ,.]+|recomend[^ ,.]+|suger[^ ,.]+|brind[^ ,.]+|elabor[^ ,.]+|complac[^ ,.]+|trat[^ ,.]+|acced[^ ,.]+ a (?:tu|su|esa|esta) (?:petición|solicitud))",
)];

static SPANISH_RULES: [Rule; 7] = [
    Rule::new(
        "es/not-inability",
        Benign,
        Four,
        Flat(0),
        &SPANISH_WORDS,
        concat!(
            r"\bno (?:puedo|podré) (?:confirmar|ir\b|venir|creer|imaginar|esperar|evitar|asistir (?:a",
            r"|al)\b|estar presente|agradecer)",
        ),
    ),
    Rule::new(
        "es/inability",
        Decline,
        Four,
        Opening(85, 70),
        &SPANISH_WORDS,
        concat!(
            r"\bno (?:lo |la |te |le |se )?(?:puedo|podr[ée]|podría|debo|voy a|quiero|me es posible|me está permitido",
            r"|me resulta posible) [^.!?]{0,40}\b<act>|\bno (?:estoy|soy",
            r"|estaría) (?:[^ .]+ )?(?:autorizad[^ ]|en condiciones|capaz|capacitad[^ ]|programad[^ ]",
            r"|diseñad[^ ]|dispuest[^ ]|facultad[^ ])|\bno (?:te |le |les )?(?:proporcionaré|generaré",
            r"|escribiré|ayudaré|responderé|crearé|proporciono|genero) |\bno tengo (?:la capacidad|permiso",
            r"|autorización|permitido)|^(?:lo siento|disculp[ae]|me temo",
            r"|lamentablemente)[^.]{0,25}\bno (?:puedo|estoy|podré)|\b(?:lamento",
            r"|siento)[^.]{0,20}\bno poder\b",
        ),
    ),
    Rule::new(
        "es/decline",
        Decline,
        Four,
        Opening(85, 70),
        &SPANISH_WORDS,
        concat!(
            r"\b(?:me niego|debo (?:negarme|rechazar|declinar|rehusar)|tengo que (?:negarme|rechazar",
            r"|declinar)|prefiero no|rechazo (?:esta|esa|tu|su)|me abstengo|declino)\b",
        ),
    ),
    Rule::new(
        "es/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &SPANISH_WORDS,
        concat!(
            r"\b(?:va en contra de|viola|infringe|incumple|contraviene|contraria a) (?:mis|nuestras|las|la",
            r"|mi) (?:[^ .]+ )?(?:directrices|políticas?|normas|principios|reglas|pautas|valores)",
            r"|\besta solicitud no puede ser (?:procesada|atendida)|\bmis (?:directrices|normas|políticas",
            r"|reglas|pautas) (?:no me permiten|me (?:impiden|prohíben))",
        ),
    ),
    Rule::new(
        "es/apology",
        Support,
        First,
        Flat(20),
        &SPANISH_WORDS,
        r"^(?:lo siento,? (?:pero|no)|lamentablemente|lamento no|disculp[ae],? (?:pero|no)|me temo)",
    ),
    Rule::new(
        "es/as-an-ai",
        Support,
        Two,
        Flat(20),
        &SPANISH_WORDS,
        r"\b(?:como|soy)(?: un| una)? (?:modelo de lenguaje|ia\b|inteligencia artificial|asistente)",
    ),
    Rule::new(
        "es/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &SPANISH_WORDS,
        concat!(
            r"\bno (?:veo|encuentro|he recibido|hay|se (?:ha )?(?:adjuntó|adjuntado|incluyó",
            r"|incluido)) (?:[^ .]+ )?(?:documento|texto|archivo|adjunto|imagen|artículo)",
            r"|\bningún (?:documento|texto|archivo|adjunto)|\b(?:por favor,?|puedes|podrías|puede",
            r"|podría) ?(?:por favor )?(?:adjunt|peg|sub|envi|proporcion|compart|facilit",
            r"|inclu)[^ .]* (?:el|la|un|una|tu|su) (?:documento|texto|archivo|imagen|artículo|contenido",
            r"|factura)|\bno puedo (?:abrir|acceder|visitar|ver|leer) [^.]{0,20}(?:enlaces?|url|archivos?",
            r"|adjunt|imágen|imagen|internet)",
        ),
    ),
];

pub(crate) static PORTUGUESE: Pack = Pack {
    language: Language::Portuguese,
    cue: Pattern::new(
        concat!(
            "não |recus|declin|desculp|sinto muito|lamento|infelizmente|contra as|viola|nenhum|anex",
            "|impossível|cole |prefiro",
        ),
        &[],
    ),
    rules: &[&PORTUGUESE_RULES],
};

static PORTUGUESE_WORDS: [Word; 1] = [(
    "act",
    "(?:ajud[^ ,.]+|auxili[^ ,.]+|fornec[^ ,.]+|dar\\b|ger(?:ar|á)[^ ,.]*|cri(?:ar|á)[^ ,.]*|atend[^ ,.]+|respond[^ ,.]+|compartilh[^ ,.]+|partilh[^ ,.]+|escrev[^ ,.]+|process[^ ,.]+|continu[^ ,.]+|oferec[^ ,.]+|traduz[^ ,.]+|resum[^ ,.]+|extra[^ ,.]+|explic[^ ,.]+|descrev[^ ,.]+|particip[^ ,.]+|complet[^ ,.]+|cumpr[^ ,.]+|revel[^ ,.]+|divulg[^ ,.]+|realizar|fazer|produz[^ ,.]+|discut[^ ,.]+|comentar|recomend[^ ,.]+|redig[^ ,.]+|prossegu[^ ,.]+|apoiar|elabor[^ ,.]+|prest[^ ,.]+|aceitar)",
)];

static PORTUGUESE_RULES: [Rule; 6] = [
    Rule::new(
        "pt/not-inability",
        Benign,
        Four,
        Flat(0),
        &PORTUGUESE_WORDS,
        concat!(
            r"\bnão (?:posso|consigo|poderei) (?:confirmar|ir\b|vir\b|acreditar|imaginar|esperar|deixar de",
            r"|estar presente|agradecer|comparecer)",
        ),
    ),
    Rule::new(
        "pt/inability",
        Decline,
        Four,
        Opening(85, 70),
        &PORTUGUESE_WORDS,
        concat!(
            r"\bnão (?:posso|consigo|poderei|poderia|devo|vou|quero|me é possível",
            r"|me é permitido)\b[^.!?]{0,40}\b<act>|\bnão (?:estou|sou",
            r"|estaria) (?:[^ .]+ )?(?:autorizad[^ ]|em condições|capaz|programad[^ ]|habilitad[^ ]",
            r"|dispost[^ ]|projetad[^ ])|\bnão tenho (?:a capacidade|permissão|autorização)|^(?:desculpe",
            r"|sinto muito|infelizmente|lamento)[^.]{0,25}\bnão (?:posso|consigo|estou|poderei)",
            r"|\bnão (?:fornecerei|gerarei|escreverei|ajudarei|responderei)\b",
        ),
    ),
    Rule::new(
        "pt/decline",
        Decline,
        Four,
        Opening(85, 70),
        &PORTUGUESE_WORDS,
        concat!(
            r"\b(?:me recuso|recuso-me|(?:devo|tenho de|tenho que|preciso) (?:recusar|declinar)",
            r"|prefiro não|recuso (?:este|esse|o seu)|declino)\b",
        ),
    ),
    Rule::new(
        "pt/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &PORTUGUESE_WORDS,
        concat!(
            r"\b(?:vai contra|viola|infringe|contraria|fere) (?:as |os |a )?(?:minhas|meus|nossas|nossos",
            r"|minha|nossa)? ?(?:diretrizes|políticas?|normas|princípios|regras|valores)",
            r"|\besta solicitação não pode ser (?:processada|atendida)|\bminhas (?:diretrizes|políticas",
            r"|regras) (?:não me permitem|me (?:impedem|proíbem))",
        ),
    ),
    Rule::new(
        "pt/apology",
        Support,
        First,
        Flat(20),
        &PORTUGUESE_WORDS,
        concat!(
            r"^(?:desculpe,? (?:mas|não)|sinto muito,? (?:mas|não)|infelizmente|lamento,? (?:mas|não))",
            r"|\b(?:como|sou)(?: um| uma)? (?:modelo de linguagem|ia\b|inteligência artificial)",
        ),
    ),
    Rule::new(
        "pt/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &PORTUGUESE_WORDS,
        concat!(
            r"\bnão (?:vejo|encontrei|encontro|recebi|há|foi (?:anexado|enviado)) (?:[^ .]+ )?(?:documento",
            r"|texto|arquivo|ficheiro|anexo|imagem|artigo)|\bnenhum (?:documento|texto|arquivo|ficheiro",
            r"|anexo)|\b(?:por favor,?|pode|poderia|você pode) ?(?:por favor )?(?:anex|col|envi|forne",
            r"|compartilh|partilh)[^ .]* (?:o|a|um|uma|seu|sua) (?:documento|texto|arquivo|ficheiro|imagem",
            r"|artigo|conteúdo|fatura)|\bnão (?:posso|consigo) (?:abrir|acessar|aceder|visitar|ver",
            r"|ler) [^.]{0,20}(?:links?|url|arquivos?|ficheiros?|anex|imagen|imagem|internet)",
        ),
    ),
];
