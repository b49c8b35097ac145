//! Portuguese. The subject may be silent, so the verb's person carries the rule.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Two};
use crate::refusal::rule::Signal::{Benign, Decline, Deflect, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static PORTUGUESE: Pack = Pack {
    language: Language::Portuguese,
    cue: Pattern::new(
        concat!(
            "não |recus|declin|desculp|sinto muito|lamento|infelizmente|contra as|viola |violam|nenhum",
            "|anex|impossível|cole |prefiro|não|outro assunto|outra coisa|assunto|bloquead|careço|falta",
            "|só |apenas|somente|exclusivamente|fora d|foge|fogem|excede|ultrapassa|preferi|opto|terei",
            "|abstenho|me vejo|vejo-me|rejeitad|omitid|resposta| termina |paro por|outro tema|impossív",
            "|segurança|conteúdo|alcance|além|extrapola|escapa|fico de fora|me é |é-me|deixo|confio",
        ),
        &[],
    ),
    rules: &[&PORTUGUESE_RULES],
};

static PORTUGUESE_WORDS: [Word; 7] = [
    (
        "act",
        concat!(
            r"(?:ajud[^ ,.]+|auxili[^ ,.]+|fornec[^ ,.]+|dar\b|ger(?:ar|á)[^ ,.]*|cri(?:ar|á)[^ ,.]*",
            "|atend[^ ,.]+|respond[^ ,.]+|compartilh[^ ,.]+|partilh[^ ,.]+|escrev[^ ,.]+|process[^ ,.]+",
            "|continu[^ ,.]+|oferec[^ ,.]+|traduz[^ ,.]+|resum[^ ,.]+|extra[^ ,.]+|explic[^ ,.]+",
            "|descrev[^ ,.]+|particip[^ ,.]+|complet[^ ,.]+|cumpr[^ ,.]+|revel[^ ,.]+|divulg[^ ,.]+",
            "|realizar|fazer|produz[^ ,.]+|discut[^ ,.]+|comentar|recomend[^ ,.]+|redig[^ ,.]+",
            "|prossegu[^ ,.]+|apoiar|elabor[^ ,.]+|prest[^ ,.]+|aceitar|colabor[^ ,.]+|transcrev[^ ,.]+",
            r"|copi[^ ,.]+|reproduz[^ ,.]*|cit(?:ar|á-)[^ ,.]*|ler\b|julg[^ ,.]+|avali[^ ,.]+|estim[^ ,.]+",
            "|diz(?:er|ê-)[^ ,.]*|cont(?:ar|ribuir)[^ ,.]*|nome(?:ar|á)[^ ,.]*|identific[^ ,.]+|list(?:ar",
            "|á)[^ ,.]*|enumer[^ ,.]+|escolh[^ ,.]+|opin[^ ,.]+|pronunci[^ ,.]+|interpret[^ ,.]+",
            "|analis[^ ,.]+|escut[^ ,.]+|ouvir|mostr[^ ,.]+|public[^ ,.]+|divulg[^ ,.]+|difund[^ ,.]+",
            "|receit[^ ,.]+|prescrev[^ ,.]+|calcul[^ ,.]+|adivinh[^ ,.]+|prever|imit[^ ,.]+|interpretar",
            "|reformul[^ ,.]+|reescrev[^ ,.]+|compor|invent[^ ,.]+|projet[^ ,.]+|desenh[^ ,.]+",
            "|burl[^ ,.]+|entr(?:ar|egar)[^ ,.]*|abord[^ ,.]+|prepar[^ ,.]+|execut[^ ,.]+|sintetiz[^ ,.]+",
            "|corrig[^ ,.]+|segu(?:ir|i-lo)|orient[^ ,.]+|aconselh[^ ,.]+|determin[^ ,.]+",
            "|diagnostic[^ ,.]+|pass(?:ar|á)[^ ,.]*|mencion[^ ,.]+|inclu[^ ,.]+|tomar (?:partido|parte",
            "|posição)|fal(?:ar|arei)[^ ,.]*|inform[^ ,.]+|dar-[^ ,.]*|d[áa]-lo|suger[^ ,.]+|indic[^ ,.]+",
            "|fazê-[^ ,.]*|faz(?:er|ê)[^ ,.]*|decid[^ ,.]+|visualiz[^ ,.]+|ensin[^ ,.]+|levar adiante",
            "|tratar|ceder|entreg[^ ,.]+|extrair|tradu[^ ,.]+|apresent[^ ,.]+)",
        ),
    ),
    (
        "fut",
        concat!(
            "(?:farei|darei|direi|escreverei|redigirei|fornecerei|responderei|criarei|gerarei",
            "|participarei|ajudarei|traduzirei|resumirei|transcreverei|copiarei|reproduzirei|citarei",
            "|lerei|julgarei|avaliarei|contarei|nomearei|identificarei|listarei|escolherei|decidirei",
            "|interpretarei|analisarei|mostrarei|publicarei|divulgarei|calcularei|colaborarei",
            "|contribuirei|reescreverei|inventarei|desenharei|falarei|abordarei|prepararei|explicarei",
            "|descreverei|compartilharei|partilharei|revelarei|continuarei|comentarei|recomendarei",
            "|sugerirei|indicarei|produzirei|elaborarei|extrairei|discutirei|entrarei|prestarei|atenderei",
            "|oferecerei|incluirei|seguirei)",
        ),
    ),
    (
        "present",
        concat!(
            "(?:traduzo|escrevo|respondo|ajudo|forneço|gero|faço|dou|crio|resumo|transcrevo|copio",
            "|reproduzo|julgo|avalio|identifico|listo|escolho|interpreto|analiso|publico|divulgo|colaboro",
            "|participo|trato|comento|aconselho|receito|opino|revelo|compartilho|partilho|produzo|discuto",
            "|abordo|falo|redijo|continuo|presto|ofereço|me pronuncio|me presto|entro|sugiro)",
        ),
    ),
    ("clit", "(?:o |a |os |as |te |lhe |lhes |se |me |nos |vos )*"),
    (
        "thing",
        concat!(
            "(?:solicitação|pedido|consulta|pergunta|entrada|resposta|saída|conteúdo|texto|documento",
            "|arquivo|ficheiro|imagem|resumo|tradução|processamento|descrição|legenda|transcrição|lista",
            "|mensagem|análise|etapas|extração|resultado|geração|requisição)",
        ),
    ),
    (
        "refused",
        concat!(
            "(?:recusad[oa]s?|rejeitad[oa]s?|negad[oa]s?|bloquead[oa]s?|retid[oa]s?|filtrad[oa]s?",
            "|suspens[oa]s?|omitid[oa]s?|interrompid[oa]s?|descartad[oa]s?|não (?:foi |foram |pode ",
            "|podem |pôde |puderam |será |serão |é )?(?:possível |ser |sido )?(?:process|atendid|aceit",
            "|gerad|produzid|fornecid|traduzid|resumid|reproduzid|mostrad|executad|concluíd|transcrit",
            "|respondid|elaborad|permitid|autorizad|disponibilizad|resumir|traduzir|processar|gerar",
            "|responder|atender|fornecer)[^ .,]*)",
        ),
    ),
    (
        "reason",
        concat!(
            "(?:polític|diretri|norma|regras|(?:razões|motivos|questões|filtro|normas|regras",
            "|medidas?) de segurança|condições de|termos|privacidade|dados pessoais|direitos? autora",
            "|direito de autor|sensív|perigos|nociv|prejudicia|proibid|ilegal|ilícit|violên|violent",
            "|confidencia|ódio|inadequad|inapropriad|precaução|prudência|cautela|respeito|moderação",
            "|infring|viol|não permitid|menores|filtro|armas)",
        ),
    ),
];

static PORTUGUESE_RULES: [Rule; 12] = [
    Rule::new(
        "pt/not-inability",
        Benign,
        Four,
        Flat(0),
        &PORTUGUESE_WORDS,
        concat!(
            r"\bnão (?:posso|consigo|poderei) (?:confirmar|ir\b|vir\b|acreditar|imaginar|esperar|deixar de",
            r"|estar presente|agradecer|comparecer)|\bnão (?:vou|irei|poderei|posso) (?:[^ .]+ )?(?:chegar",
            r"|ficar|faltar|esquecer|mentir|desistir)\b|\bnão (?:tenho|disponho) [^.,]*, mas (?:em |o |a ",
            "|de |um |uma |costuma|normalmente|como )",
        ),
    ),
    Rule::new(
        "pt/inability",
        Decline,
        Four,
        Opening(85, 70),
        &PORTUGUESE_WORDS,
        concat!(
            r"\bnão (?:<clit>|é )?(?:posso|consigo|poderei|poderia|devo|deveria|vou|irei|quero|gostaria de",
            "|pretendo|desejo|sei|saberia|tenciono|cabe a mim|me cabe|compete|me compete|me sinto",
            "|me é possível|me é permitido|é apropriado|é adequado|é correto",
            r"|é a mim que cabe)\b[^.!?]*\b<act>|\bnão (?:estou|sou|estaria) (?:[^ .]+ )?(?:autorizad[^ ]",
            "|em condições|capaz|programad[^ ]|habilitad[^ ]|dispost[^ ]|projetad[^ ])",
            r"|\bnão tenho (?:a capacidade|permissão|autorização)|^(?:desculpe|sinto muito|infelizmente",
            r"|lamento)[^.]{0,25}\bnão (?:posso|consigo|estou|poderei)|\bnão (?:fornecerei|gerarei",
            r"|escreverei|ajudarei|responderei)\b|\bnão (?:sou|estou) (?:[^ .]+ )?(?:a pessoa|quem",
            r"|a ferramenta|qualificad|autorizad|conectad|ligad)|\bnão (?:tenho|disponho de|possuo",
            "|conto com) (?:[^ .]+ ){0,2}(?:maneira|forma|como|meios?|acesso|permissão|autorização",
            r"|capacidade|competência)|\b(?:me é|é-me|torna-se-me|me fica) (?:[^ .]+ )?impossível|\b(?:sou",
            r"|estou) incapaz de|\bnão é (?:o meu papel|meu papel|minha função|da minha competência",
            r"|algo (?:que|em que|com que) (?:eu )?(?:poss|faç|farei|vou|dev)|comigo)|\bnão me (?:cabe",
            r"|compete)|\bnão cabe a mim",
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
            r"|prefiro não|recuso (?:este|esse|o seu)|declino)\b|\b(?:preferiria|preferia|prefiro|escolho",
            r"|opto por|decidi) não\b|(?:^|[ ,.;])(?:me abstenho|abstenho-me|vou me abster",
            "|terei de (?:recusar|declinar|dizer não)|terei que (?:recusar|declinar|dizer não)",
            "|sou obrigad[oa] a (?:recus|declin)|devo me abster|paro por aqui|fico de fora|declinarei",
            r"|dispenso-me|vejo-me obrigad|me vejo obrigad|lamento não poder)|\b(?:deixo",
            "|confio) (?:[^ .]+ ){1,4}(?:com|para|a) (?:o seu|a sua|seu|sua|um|uma|quem) ",
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
            r"|minha|nossa)? ?(?:diretrizes|políticas?|normas|princípios|regras|valores)|\b(?:esta|sua",
            r"|a) (?:solicitação|consulta) não pode ser (?:processada|atendida)|\b(?:este|seu",
            "|o) pedido não pode ser (?:processado|atendido)|^(?:conteúdo|solicitação|pedido",
            "|texto) (?:não (?:permitid|autorizad|admitid)|proibid|inadequad|recusad|bloquead)",
            r"|\bminhas (?:diretrizes|políticas|regras) (?:não me permitem|me (?:impedem|proíbem))",
        ),
    ),
    Rule::new(
        "pt/apology",
        Support,
        First,
        Flat(20),
        &PORTUGUESE_WORDS,
        concat!(
            "^(?:desculpe,? (?:mas|não)|sinto muito,? (?:mas|não)|infelizmente|lamento,? (?:mas|não))",
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
            "|compartilh|partilh)[^ .]* (?:o|a|um|uma|seu|sua) (?:documento|texto|arquivo|ficheiro|imagem",
            r"|artigo|conteúdo|fatura)|\bnão (?:posso|consigo) (?:abrir|acessar|aceder|visitar|ver",
            "|ler) [^.]{0,20}(?:links?|url|arquivos?|ficheiros?|anex|imagen|imagem)",
        ),
    ),
    Rule::new(
        "pt/will-not",
        Decline,
        Four,
        Opening(70, 55),
        &PORTUGUESE_WORDS,
        concat!(
            r"\bnão <clit>(?:<fut>|<present>)(?:[ ,.;:!]|$)|\b(?:a|minha) resposta (?:é|continua sendo",
            r"|continua a ser|será|mantém-se) (?:[^ .]+ )?não|\bnão (?:o |a )?vou (?:fazer|continu|escrev",
            r"|transcrev|inclu)|\bnão <clit>vou [^.!?]{0,10}<act>",
        ),
    ),
    Rule::new(
        "pt/beyond-my-scope",
        Obstacle,
        Four,
        Flat(55),
        &PORTUGUESE_WORDS,
        concat!(
            r"\b(?:fogem?|escapam?|excedem?|ultrapassam?|vai além|vão além|está além|está fora|fica fora",
            "|ficam fora|extrapolam?|saem?)(?: d[oae]s?| a[os]?| às?)? ?(?:meus? |minhas? ",
            "|o? ?que (?:eu )?(?:posso|me|fui|consigo) )",
        ),
    ),
    Rule::new(
        "pt/refused-by-machine",
        Obstacle,
        Four,
        Flat(60),
        &PORTUGUESE_WORDS,
        concat!(
            "<thing>[^.!?]* <refused>[^.!?]*(?:[.] ?[^.!?]*)?<reason>|<reason>[^.!?]*(?:<thing>|nomes",
            r"|dados|seção|passos)[^.!?]* <refused>|\bnenhuma? (?:[^ .]+ ){0,2}?<thing> (?:foi|será",
            r"|pode ser|poderá ser) (?:gerad|produzid|fornecid|elaborad|dad)|\bnão (?:foi|será",
            "|é) (?:possível )?(?:gerad[oa]|gerar|produzid[oa]|produzir|resumir|traduzir|processar",
            "|responder a?|fornecer|elaborar|transcrever)[^.!?]*<reason>|<thing> (?:bloquead|recusad",
            r"|rejeitad|filtrad|negad)[oa] (?:por|pelo|pela|:)|\bimpossível (?:processar|resumir|traduzir",
            "|responder|gerar|atender)[^.!?]*<reason>|<thing>[^.!?]*<reason>[^.!?]* ?<refused>",
        ),
    ),
    Rule::new(
        "pt/assistant-does-not",
        Decline,
        Four,
        Flat(60),
        &PORTUGUESE_WORDS,
        concat!(
            r"\b(?:este|esta|nosso) (?:[^ .]+ )?(?:assistente|chatbot|bot|modelo de linguagem",
            r"|agente virtual)\b[^.!?]* (?:não|só|apenas|somente|unicamente|exclusivamente|recusa) ?",
            r"|\b(?:o assistente|a assistente|o chatbot|o bot|[a-z]{2,16}bot) (?:não (?:responde|trata",
            "|pode|oferece|fornece|dá|atende|opina|comenta)|recusa|(?:só|apenas|somente) (?:responde",
            "|atende|trata|ajuda)|(?:responde|atende|trata|ajuda) (?:só|apenas|somente|exclusivamente))",
        ),
    ),
    Rule::new(
        "pt/no-live-data",
        Decline,
        Four,
        Flat(55),
        &PORTUGUESE_WORDS,
        concat!(
            r"\bnão (?:tenho|disponho|conto|estou|possuo)[^.!?]{0,30}(?:acesso|tempo real",
            "|dados (?:atualizados|atuais|ao vivo|recentes|em direto)|informaç(?:ão|ões) (?:atualizad",
            r"|em tempo|atua|recente)|conectad|ligad[oa] à|conexão|internet)|\b(?:careço de|me falta",
            "|me faltam|falta-me|faltam-me) (?:[^ .]+ ){0,2}(?:acesso|dados|informaç|conexão|ferrament",
            r"|meios)|\b(?:meu conhecimento|meus conhecimentos|meus dados|meu treinamento|meu treino",
            "|minhas informações)[^.!?]{0,30}(?:termina|vai até|vão até|parou|acaba|se limita)",
        ),
    ),
    Rule::new(
        "pt/other-topic",
        Deflect,
        Two,
        Flat(30),
        &PORTUGUESE_WORDS,
        concat!(
            r"\b(?:falemos|falar|vamos|passemos|mudemos|mudar|conversar|conversemos|podemos",
            "|que tal)[^.!?]{0,30}(?:de outra coisa|outro assunto|outros assuntos|outro tema|de assunto",
            r"|de tema|outra coisa|algo diferente)|\boutro assunto\b|\b(?:deixemos|deixar",
            "|vamos deixar)[^.!?]{0,20}(?:este|esse|o) (?:assunto|tema)",
        ),
    ),
];
