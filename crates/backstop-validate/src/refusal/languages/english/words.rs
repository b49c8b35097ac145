//! The word lists that English rules are made of.

use crate::refusal::pattern::Word;

/// Adverbs that may stand between "I" and the verb, at most three of them.
const ADVERBS: &str = "(?:(?:also|just|simply|really|actually|unfortunately|regrettably|sadly|honestly|personally\
    |respectfully|currently|still|only|not|directly|ethically|legally|morally|knowingly|therefore|truly|absolutely\
    |definitely|certainly|strictly|politely|kindly|never|however|always|generally|in good conscience\
    |under any circumstances|at this time|at the moment|as an? [a-z]+(?: [a-z]+)?),? ){0,3}";

/// What a model says it lacks: ability, permission or will.
const CANNOT: &str = "(?:can't|cannot|can not|can ?n't|cant|can no longer|won't|will not|wont|will never|would never\
    |couldn't|could not|shouldn't|should not|must not|mustn't|may not\
    |(?:am|'m|m) <adv>(?:unable|unwilling|reluctant|hesitant)(?: to)?\
    |(?:am|'m|m) <adv>not <adv>(?:able|allowed|permitted|authori[sz]ed|supposed|comfortable|willing|qualified|equipped\
    |prepared|ready|programmed|designed|built|trained|meant|going|capable|in a position|at liberty|here)(?: to| with| of)?\
    |(?:am|'m|m) <adv>(?:prohibited|forbidden|restricted|prevented|barred|restrained|restricted) from\
    |(?:don't|do not) <adv>(?:feel (?:comfortable|right|at ease)|want|wish|intend|plan|think i (?:can|should|could))(?: to| with)?\
    |(?:don't|do not|lack|have no) ?(?:have )?(?:the |any )?(?:ability|capability|capacity|authority|permission|means)(?: to)?\
    |(?:won't|will not|would not|wouldn't) be (?:able|willing|comfortable)(?: to| with)?\
    |(?:'d|would)(?: much)? rather not|(?:'d |would )?prefer not(?: to)?|choose not(?: to)?|(?:have|'ve) (?:chosen|decided|elected) not(?: to)?|(?:am|'m|feel|would be|'d be) uncomfortable(?: with)?|ain't|have no (?:intention|wish|desire|plans?) (?:of|to)\
    |(?:am|'m) choosing not(?: to)?|shall not|shan't|(?:am|'m) not about to\
    |(?:have|'ve) no (?:way|means|tools?) (?:of|to|for))";

/// What a model may be asked to do.
const ACT: &str = "(?:help|helping|assist|assisting|aid|support|supporting|entertain|prescribe|cooperate|indulge|fulfil|fulfill\
    |fulfilling|comply|complying|complete|completing|accommodate|honou?r|grant|satisfy|engage|engaging|participate\
    |participating|take part|continue|proceed|carry on|move forward|provide|providing|give|giving|offer|offering|share|sharing\
    |supply|disclose|disclosing|answer|answering|respond|responding|discuss|discussing|comment|create|creating|write|writing\
    |generate|generating|produce|producing|draft|drafting|compose|composing|describe|describing|explain|explaining|suggest|recommend|promote|promoting|condone|encourage|encouraging|endorse|endorsing|facilitate|facilitating|enable|enabling|tell\
    |telling|teach|show|advise|instruct|guide|reveal|revealing|extract|extracting|summari[sz]e|summari[sz]ing|translate\
    |translating|process|processing|reproduce|reproducing|perform|performing|execute|do that|do this|do so|do it|list|listing\
    |make (?:harmful|jokes|fun|such|that|this|judg[a-z]+|statements|up|any|a )|work (?:with|on)|go (?:into|there|down|along)\
    |advocate|act |carry out|fabricate|fabricating|imitate|impersonate|role-?play|pretend|use (?:racial|slurs|derogatory|such|offensive|insulting|abusive|that|this)\
    |say (?:that|this|such|anything)|repeat (?:that|this|such|those|it)|speculate|justify|defend|rewrite|paraphrase|edit|analy[sz]e|classify|transcribe|convert|format\
    |fill|parse|read (?:this|that|out)|label|rank|review|evaluate|judge|identify|take (?:on|over)|touch|handle|meet (?:this|that|your)|oblige\
    |contribute|collaborate|hand (?:(?:it|them|that|this) )?(?:over|out)|be (?:a )?party to|give out|pass (?:along|this|that)|talk (?:about|to)|look (?:at|into|up)|weigh in|touch on|speak (?:on|about|for)|diagnose|follow (?:that|this|those|these|your) [a-z]+|try\\b|attempt|go (?:any )?further|doing (?:that|this|it|so)|include|including|mention|output|caption|copy|quote|recite|recreate|relay|decode|interpret|outline|compile|compute|browse|listen|hear|pull (?:out|up|together)|walk (?:you )?through|take (?:sides|a side|a stance|a position)|pick (?:a|sides)|choose (?:a|between|for)|settle|solve|play (?:along|out|that|this)|voice|coach|counsel|point (?:you|to)|publish|render|depict|illustrate|elaborate|expand on|address|divulge|profile|locate|track|be (?:of (?:help|assistance|service)|helping|part|involved|providing|assisting|able to)|lend)";

const MODAL: &str = "(?:must|have to|need to|am going to have to|'m going to have to|will have to|'ll have to|am obliged to\
    |am obligated to|would have to|shall have to|shall|'d have to|am forced to|should|ought to|will|'ll|am going to|'m going to|am inclined to|'m inclined to|choose to|prefer to|'ve got to|have got to|would|'d)";

/// What is asked for, as a model names it.
const REQUEST: &str = "(?:request|prompt|question|content|topic|query|task|input|message|information|instructions?|assistance|material\
    |conversation|inquiry|subject|demand)";

/// Moral words a model has for what it will not do.
const WRONG: &str = "(?:unethical|inappropriate|immoral|illegal|unlawful|harmful|offensive|disrespectful|dangerous|hateful|discriminatory\
    |not (?:[a-z]+ )?(?:ethical|appropriate|acceptable|respectful|legal|okay|ok|right|safe|responsible|moral|permissible)\
    |neither (?:[a-z]+ )?(?:ethical|appropriate|acceptable|respectful|legal|safe|responsible))";

/// What only an unwilling "won't" turns into a refusal: a shop assistant who "can't send" something has an ordinary
/// reason.
const DEED: &str = "(?:<act>|(?:be |keep )?(?:complet|generat|creat|produc|provid|writ|shar|giv|do|help|assist|offer|mak|answer|reveal|continu|tell|explain|describ\
    |extract|translat|summari[sz]|pull|carry|tak|list|post|copy|publish|play|discuss|comment|engag|process|draft|reproduc|join in)ing|build|design|develop\
    |code|script|plan|send|post|hack|unlock|bypass|circumvent|break|remove|invent|deceive|mislead|target|monitor|spy|name|budge|assess|rate|grade\
    |score|vote|decide|draw|make|do|put|finish|search|turn (?:this|that|it|these|those)|agree to|be (?:your|used|drawn|turned)|spell|let (?:you|myself)|set)";

/// Who the model is when it speaks of itself as of somebody else.
const ASSISTANT: &str =
    "(?:this (?:[a-z-]+ )?(?:assistant|chatbot|bot|model|ai|helper|agent)|[a-z]{2,16}bot)";

/// What is handed over when a request is met.
const OUTPUT: &str = "(?:<request>|answer|response|reply|output|completion|generation|summary|translation|analysis|extraction|caption|transcript|transcription\
    |description|list|text|document|file|image|processing|recording|page|data|result|report)";

/// A verdict on a request, as a machine gives it.
const REFUSED: &str = "(?:refused|declined|rejected|blocked|denied|withheld|suppressed|filtered|flagged|skipped|omitted|stopped|halted|restricted)";

/// Reasons that a request is turned down for, as against a technical one.
const REASON: &str = "(?:polic(?:y|ies)|guidelines?|safety|security (?:rules|reasons|grounds)|moderation|sensitive|harmful|personal|private|confidential|terms (?:of|and)\
    |violat[a-z]+|breach|copyright[a-z]*|prohibited|restricted|disallowed|inappropriate|dangerous|illegal|unlawful|privacy|ethic[a-z]*|medical records|hate|violen[a-z]+\
    |weapons?|explicit|sexual|minors?|abus[a-z]+|out of respect|out of caution|precaution[a-z]*|unsafe|content (?:rules|standards))";

pub(super) static WORDS: [Word; 12] = [
    ("adv", ADVERBS),
    ("cannot", CANNOT),
    ("act", ACT),
    ("modal", MODAL),
    ("request", REQUEST),
    ("wrong", WRONG),
    (
        "owner",
        concat!(
            "(?:my|our|openai's|anthropic's|google's|the platform's|content|usage|use|safety|community",
            "|ethical|privacy)",
        ),
    ),
    ("reason", REASON),
    ("refused", REFUSED),
    ("output", OUTPUT),
    ("assistant", ASSISTANT),
    ("deed", DEED),
];
