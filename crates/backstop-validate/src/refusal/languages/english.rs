//! English. The rules are about forms of speech (first person, inability, an act asked for), not about stock phrases:
//! refusals that quote no list of openings are the ones that get through elsewhere.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Head, Two};
use crate::refusal::rule::Signal::{Benign, Decline, Deflect, Filter, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening, Position};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static ENGLISH: Pack = Pack {
    language: Language::English,
    cue: Pattern::new(
        "can't|cannot|can not|won't|will not|n't|not |never|unable|unwilling|declin|refus|sorry|apolog|afraid\
         |unfortunately|regret|violat|against|policy|policies|guideline|outside|beyond|prohibit|forbid|forbidden\
         |restricted|prevent|abstain|refrain|pass on|say no|inappropriate|unethical|immoral|illegal|harmful|illegitimate\
         |nope|no[.,!]|condemn|let's|different|something else|blocked|filter|please|could you|unreadable|blurry|no \
         |cant |wont |lack |cut off|missing|empty|blank|corrupt|illegible|going through|harm|only |just |instructed|designed|trained|draw|steer|stay |sit |line |request |hard |aim to|as much as|rejected|denied|would (?:violate|breach|mean|make)|uncomfortable|wrong|irresponsible|stop |rules|avoid|breaking|turn |got to|withhold|opting|opt out|skip|answer |no-go|more than i|instructions|crime|offence|offense|unlawful|wrong|reach out|line|alone",
        &[],
    ),
    rules: &RULES,
};

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
    |(?:am|'m) choosing not(?: to)?)";

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
    |contribute|collaborate|hand (?:(?:it|them|that|this) )?(?:over|out)|be (?:a )?party to|give out|pass (?:along|this|that)|talk (?:about|to)|look (?:at|into|up)|weigh in|touch on|speak (?:on|about|for)|diagnose|follow (?:that|this|those|these|your) [a-z]+|try\\b|attempt|go (?:any )?further|doing (?:that|this|it|so)|include|including|mention|be (?:of (?:help|assistance|service)|helping|part|involved|providing|assisting|able to)|lend)";

const MODAL: &str = "(?:must|have to|need to|am going to have to|'m going to have to|will have to|'ll have to|am obliged to\
    |am obligated to|would have to|'d have to|am forced to|should|ought to|will|'ll|am going to|'m going to|am inclined to|'m inclined to|choose to|prefer to|'ve got to|have got to|would|'d)";

/// What is asked for, as a model names it.
const REQUEST: &str = "(?:request|prompt|question|content|topic|query|task|input|message|information|instructions?|assistance|material\
    |conversation|inquiry|subject|demand)";

/// Moral words a model has for what it will not do.
const WRONG: &str = "(?:unethical|inappropriate|immoral|illegal|unlawful|harmful|offensive|disrespectful|dangerous|hateful|discriminatory\
    |not (?:[a-z]+ )?(?:ethical|appropriate|acceptable|respectful|legal|okay|ok|right|safe|responsible|moral|permissible)\
    |neither (?:[a-z]+ )?(?:ethical|appropriate|acceptable|respectful|legal|safe|responsible))";

static WORDS: [Word; 7] = [
    ("adv", ADVERBS),
    ("cannot", CANNOT),
    ("act", ACT),
    ("modal", MODAL),
    ("request", REQUEST),
    ("wrong", WRONG),
    (
        "owner",
        "(?:my|our|openai's|anthropic's|google's|the platform's|content|usage|use|safety|community|ethical|privacy)",
    ),
];

static RULES: [Rule; 44] = [
    Rule::new(
        "en/not-inability",
        Benign,
        Four,
        Flat(0),
        &WORDS,
        r"\b(?:i|we)(?: can't| cannot| couldn't| can not| could not| won't| will not|(?: am|'m| are|'re) (?:unable|not able) to) (?:find|see|confirm|verify|recall|remember|imagine|wait|stress|emphasi[sz]e|overstate|overemphasi[sz]e|agree|believe|think of|recommend\b[^.]{0,60}\b(?:enough|highly)|thank you enough|make it|attend|come|join|lie\b|be there|deny|complain|pretend (?:that )?i|say (?:for (?:sure|certain)|enough|whether|if|which)|tell (?:from|whether|if|which|apart|exactly|for sure)|speak for|help (?:but|feeling|noticing|it)|give (?:up|in)|go (?:into|there|down) (?:the )?(?:town|city|office)|log ?in|sign in|access my|open my|return (?:my|the))|\bcouldn't (?:be (?:more|happier)|agree more)|\bi refuse to (?:believe|accept that|be |let |give up)",
    ),
    Rule::new(
        "en/first-person-inability",
        Decline,
        Four,
        Position,
        &WORDS,
        r"\bi,? ?<adv><cannot>(?:,? (?:and|or|nor) (?:i )?(?:will not|won't|cannot|can't|would not|should not|am not able to|'m not able to))?,? <adv>(?:to |be |in )?<adv><act>\b",
    ),
    Rule::new(
        "en/first-person-decline",
        Decline,
        Four,
        Position,
        &WORDS,
        r"\bi ?<adv>(?:<modal> )?<adv>(?:politely |respectfully |kindly )?(?:decline|refuse|say no(?: to (?:this|that|your)|[.,!]|$)|pass on|turn (?:this|that|your|it) (?:[a-z]+ )?down|turn down (?:this|that|the|your) (?:request|task|question)|abstain|refrain|draw the line|stop (?:here|there|short)|sit (?:this|that|it) (?:one )?out|steer clear of|stay (?:away from|out of)|leave (?:this|that|it|your [a-z]+) (?:[a-z]+ )?(?:unanswered|alone)|take a pass|withhold|skip (?:this|that)|opt out)\b|\bi(?: am|'m) <adv>(?:declining|refusing|opting out of|withholding|skipping|passing on|abstaining|drawing (?:a|the) line|sitting (?:this|that) (?:one )?out)\b",
    ),
    Rule::new(
        "en/first-person-never-do",
        Decline,
        Four,
        Flat(50),
        &WORDS,
        r"\bi (?:actually )?(?:do not|don't|would never|will never|never) (?:actually )?(?:provide|assist|help with|engage in|generate|produce|participate in|condone|promote|discuss|endorse|encourage|(?:write|create|share|answer|support) (?:such|this|that|these|those|any|content|questions))\b",
    ),
    Rule::new(
        "en/first-person-bare-inability",
        Decline,
        Four,
        Flat(50),
        &WORDS,
        r"\bi ?<adv><cannot>(?: (?:that|this|so|it|with that|with this|that for you|this one))?(?:[.!,;]|$)",
    ),
    Rule::new(
        "en/not-possible-for-me",
        Decline,
        Two,
        Flat(60),
        &WORDS,
        r"\b(?:(?:it|that|this)(?: is|'s| isn't)|it would) ?(?:not )?(?:be )?(?:possible|permissible|feasible|permitted|allowed|appropriate|ethical|right|impossible|irresponsible|wrong|unethical|inappropriate|improper) (?:for|of) me to (?:do\b|<act>)\b",
    ),
    Rule::new(
        "en/not-something-i-do",
        Obstacle,
        Four,
        Flat(70),
        &WORDS,
        r"\b(?:this|that|it|these|those|[a-z]+)(?: is|'s|'s just| are|'s simply| isn't| aren't) (?:just |simply |really )?(?:not )?(?:something|anything|things|an area|a (?:request|topic|task|conversation|subject|thing)) (?:that |where |which )?(?:i|i'm|i'll|i'd|i am)\b <adv>(?:can|could|will|would|'d|'ll|'m|am|do|want|feel|help|assist|provide|engage|support|discuss)|\b(?:topic|subject|area|kind of [a-z]+) (?:that )?i (?:avoid|stay|don't|do not|won't|will not|cannot|can't)\b|\b(?:isn't|is not|not) (?:an? )?(?:information|content|details|data|material|advice|[a-z]+ [a-z]+) (?:that )?i(?: am|'m) (?:able|allowed|permitted|willing|free) to\b|\b(?:which|those [a-z]+|these [a-z]+)(?: is something)? i (?:simply |just )?(?:won't|will not|cannot|can't|refuse to) (?:do|follow|write|answer|provide|support|act on|help)\b|\b(?:isn't|not) (?:something|anything) (?:that )?(?:i(?: |')|(?:this|the) (?:assistant|model|service|chatbot))",
    ),
    Rule::new(
        "en/request-not-allowed",
        Obstacle,
        Four,
        Flat(70),
        &WORDS,
        r"\b(?:this|that|the|your|such(?: a)?) (?:[a-z]+ )?<request> (?:(?:appears to|seems to|may|would|might|directly|clearly) )?(?:(?:violates?|goes against|conflicts with|is against|breach(?:es)?|contravenes?|run afoul of|runs counter to) (?:[a-z]+ ){0,2}?(?:<owner>|terms)\b|is (?:not (?:allowed|permitted|one i)|prohibited|disallowed|off[- ]limits|restricted)|falls (?:outside|foul)|(?:cannot|can't|must not) (?:continue|go on|proceed)|(?:cannot|can't|won't|will not|can not) be (?:fulfilled|completed|provided|shared|supported|accommodated|processed|answered|generated|honou?red|satisfied|granted|handled))",
    ),
    Rule::new(
        "en/request-not-processed",
        Obstacle,
        Two,
        Flat(70),
        &WORDS,
        r"\bwe(?: are|'re)? (?:cannot|can't|unable to|not able to|won't|will not) (?:process|fulfil|fulfill|complete|answer|honou?r|accommodate|respond to) (?:this|that|your) <request>\b|\b<request> (?:was |has been |is )?(?:declined|rejected|refused|denied) (?:due to|because of|by|for) (?:[a-z]+ ){0,2}(?:safety|policy|content|usage|guidelines)",
    ),
    Rule::new(
        "en/against-my-guidelines",
        Obstacle,
        Four,
        Flat(45),
        &WORDS,
        r"\b(?:against|break|breaks|breaking|under|by|outside) (?:[a-z]+ ){0,2}(?:rules|policy|policies|guidelines|instructions) (?:that )?i (?:have to|must|need to|am required to|am bound to|operate|work) ?(?:follow|obey|respect|under|by|keep|observe)?\b|\bmy (?:policy|rule|practice) is (?:to never|not to|never to|to not|to avoid|to decline)\b|\b(?:against|violates?|violation of|violating|outside|within|not in line with|conflicts? with|contrary to|break(?:s|ing)?|prohibited by|prohibits?|goes beyond|under|by) (?:[a-z]+ ){0,2}<owner> (?:[a-z]+ (?:and [a-z]+ )?)?(?:guidelines|policy|policies|programming|principles|rules|instructions|values|ethics|standards|terms|scope|capabilities|code|training|boundaries|limits)\b|\b(?:against|outside|break|breaks|under|within|by) the (?:rules|guidelines|policies|principles|terms|limits|instructions) (?:that )?(?:i|under which i|set for me|given to me)\b|\b(?:my|the) (?:[a-z]+ )?(?:guidelines|programming|policies|policy|instructions|principles|rules|training|values|ethics|design|safety [a-z]+) (?:[a-z]+ )?(?:prevents?|prohibits?|forbids?|(?:do not|don't|does not|doesn't|won't) (?:let|allow|permit)|restricts?|stops?|bars?|keeps?) me\b|\bmy (?:[a-z]+ )?(?:guidelines|programming|policies|policy|instructions|principles|rules|training) (?:[a-z]+ )?(?:prevents?|prohibits?|forbids?|(?:do not|don't|does not|doesn't|won't) (?:let|allow|permit)|restricts?|rules? out)\b",
    ),
    Rule::new(
        "en/outside-my-scope",
        Obstacle,
        Four,
        Flat(45),
        &WORDS,
        r"\b(?:outside|beyond|exceeds|not within|not in|isn't within) (?:of )?(?:the (?:scope|limits|bounds|range) of )?(?:my|what i(?:'m|'ll|'d)?) (?:[a-z]+ ){0,4}(?:scope|capabilit[a-z]+|abilit[a-z]+|can|able|help|do|purpose|programming|expertise|remit|purview|role|limits|boundaries|domain|allowed|permitted|comfortable)\b",
    ),
    Rule::new(
        "en/norm-and-act",
        Obstacle,
        Two,
        Opening(60, 45),
        &WORDS,
        r"\b(?:it(?:'s| is| would be| wouldn't be| would not be| isn't)|that(?:'s| is| would be| would not be)) (?:also |simply |just |never |neither |highly )?(?:not |never )?(?:be )?(?:appropriate|ethical|acceptable|right|legal|responsible|okay|within my [a-z]+|ethically [a-z]+|morally [a-z]+|illegal|unethical|inappropriate|immoral|irresponsible|wrong|productive)(?:,? (?:or|and|nor) (?:[a-z]+ )?[a-z]+){0,2} (?:for me )?to <act>\b",
    ),
    Rule::new(
        "en/norm",
        Deflect,
        Two,
        Opening(30, 20),
        &WORDS,
        r"\b(?:it(?:'s| is| would be| wouldn't be| would not be| isn't)|that(?:'s| is| would be| would not be)) (?:also |simply |just |never |neither |highly )?(?:not |never )?(?:be )?(?:appropriate|ethical|acceptable|right|responsible|okay|within my [a-z]+|ethically [a-z]+|morally [a-z]+|unethical|inappropriate|immoral|irresponsible)(?:,? (?:or|and|nor) (?:[a-z]+ )?[a-z]+){0,2} (?:for me )?to\b",
    ),
    Rule::new(
        "en/assistant-without",
        Obstacle,
        Two,
        Flat(40),
        &WORDS,
        r"\b(?:i am|i'm|as)(?: just| only| merely)? an? (?:[a-z]+ ){0,3}(?:ai|language model|assistant|chatbot)\b[^.]{0,40}?\b(?:and|so|but|,) ?(?:i )?(?:do not|don't|cannot|can't|am not|will not|won't|am unable|have no) (?:[a-z]+ )?(?:provide|engage|have (?:the|access|permission|authority)|able|allowed|permitted|programmed|capable|make|take|help|promote|support|condone|offer|give|produce|create|generate|answer|encourage|possess|participate|talk|discuss|comment|assist|to )",
    ),
    Rule::new(
        "en/question-reproved",
        Deflect,
        Two,
        Flat(60),
        &WORDS,
        r"\b(?:(?:asking|requesting) (?:[a-z']+ ){1,8}?is|(?:the|this|that|your|such an?) (?:[a-z]+ ){0,2}(?:question|request|prompt|query)(?: (?:itself|you (?:have )?(?:asked|posed|made)|you're asking))? (?:is|seems|appears to be|may be|could be(?: considered)?|contains|includes|promotes|perpetuates|implies|involves))(?: (?:[a-z]+,? ){0,2}?)?<wrong>",
    ),
    Rule::new(
        "en/wrong-act",
        Deflect,
        Two,
        Flat(35),
        &WORDS,
        r"\b(?:is|are|constitutes?|would be) (?:also |both |highly |strictly |always )?(?:never (?:an )?(?:acceptable|okay|the answer|right|ethical|appropriate)|unethical|not (?:a )?(?:safe|ethical|acceptable|okay)|(?:a )?(?:serious|harmful|dangerous) and (?:illegal|harmful|unethical|dangerous))\b",
    ),
    Rule::new(
        "en/illegal-act",
        Deflect,
        Two,
        Flat(15),
        &WORDS,
        r"\b(?:is|are|constitutes?|would be) (?:also |both |highly |strictly |always |considered )?(?:illegal|unlawful|a (?:serious |federal |violent )?(?:crime|offen[cs]e)|against the law|not (?:legal|allowed by law))\b",
    ),
    Rule::new(
        "en/moral-words",
        Support,
        Head,
        Flat(20),
        &WORDS,
        r"\b(?:unethical|ethical|ethically|immoral|morally|harmful|disrespectful|respectful|offensive|hurtful|stereotyp[a-z]+|hateful|derogatory|perpetuat[a-z]+|generali[sz](?:e|ing|ations?) about|(?:make|making|sweeping|broad) (?:[a-z]+ ){0,2}(?:assumptions?|generali[sz]ations?|blanket statements?)|harm to)\b",
    ),
    Rule::new(
        "en/lecture",
        Deflect,
        First,
        Flat(15),
        &WORDS,
        r"\b(?:it(?:'s| is)|i must|let me|i want to|i would like to|i feel compelled to)(?: (?:very|also|respectfully|kindly))? ?(?:important|crucial|essential|vital|necessary)? ?(?:to )?(?:note|remember|understand|emphasi[sz]e|clarify|point out|remind|stress|inform|recogni[sz]e|prioriti[sz]e|always|treat)\b",
    ),
    Rule::new(
        "en/sent-to-others",
        Deflect,
        Head,
        Flat(20),
        &WORDS,
        r"\b(?:reach out to (?:a|an|your|someone)|seek(?:ing)? (?:out )?(?:professional |immediate |medical )?(?:help|support|assistance)|mental health professional|(?:crisis|suicide|help) ?(?:hot)?line|(?:talk|speak) to (?:someone|somebody|a (?:doctor|therapist|counsell?or))|trusted (?:friend|adult|person)|you(?: are|'re) not alone)\b",
    ),
    Rule::new(
        "en/crisis",
        Deflect,
        Four,
        Flat(30),
        &WORDS,
        r"\bi(?: am|'m) (?:[a-z]+ ){0,2}sorry (?:to hear )?(?:that )?(?:you|to hear|about)[^.]{0,60}\b(?:going through|feeling|feel|considering|struggling|thinking (?:of|about)|hurting)\b",
    ),
    Rule::new(
        "en/does-not-exist",
        Support,
        Four,
        Flat(-80),
        &WORDS,
        r"\b(?:is|are|as|was|were) (?:[a-z]+ )?(?:an? )?(?:[a-z]+ )?(?:fictional|imaginary|made[- ]up)\b|\b(?:is|are|as) (?:just |only )?an? (?:[a-z]+ ){0,2}character\b|\b(?:does|do)(?: not|n't) (?:actually |really )?exist\b|\bnot (?:a )?real (?:person|people|character|place)",
    ),
    Rule::new(
        "en/condemn",
        Deflect,
        Two,
        Opening(40, 30),
        &WORDS,
        r"\bi (?:strongly |do not |don't |cannot |can't |firmly )?(?:condemn|condone|advise against|discourage|disapprove of)\b",
    ),
    Rule::new(
        "en/other-topic",
        Deflect,
        Head,
        Flat(25),
        &WORDS,
        r"\b(?:let's (?:talk about something|try a different|change the|discuss something|focus on (?:how|more|positive|something)|move on|keep (?:things|this|our))|(?:different|another|other) (?:topic|question|request|task)|prefer not to continue|something (?:else|different) (?:i can|you'd like|instead)|(?:is|if) there(?:'s| is)? (?:something|anything) else|any other (?:question|request|topic)|happy to (?:help|assist)(?: you)? with (?:other|something|anything)|instead of (?:asking|focusing|trying|seeking|looking)|how about we)",
    ),
    Rule::new(
        "en/apology",
        Support,
        First,
        Flat(20),
        &WORDS,
        r"^(?:(?:oh|hi|hello|hmm|well|ah)[,.! ]+)?(?:i(?:'m| am) (?:[a-z]+ )?(?:so |very |really |truly |deeply )?sorry|sorry|(?:my |sincere )*apologies|i (?:sincerely |must )?apologi[sz]e|i'm afraid|i am afraid|unfortunately|regrettably|i regret)",
    ),
    Rule::new(
        "en/sympathy",
        Support,
        First,
        Flat(-20),
        &WORDS,
        r"^(?:i(?:'m| am) )?(?:so |very |really |deeply |truly )*sorry (?:to hear|that you|you(?:'re| are| had| have)|for (?:the|your|any|my|being)|about|if|this happened)|^(?:my |sincere |our |please accept )*apologies for (?:the|any|my)|^i apologi[sz]e for (?:the|any|my)",
    ),
    Rule::new(
        "en/as-an-ai",
        Support,
        Two,
        Flat(20),
        &WORDS,
        r"\b(?:as|i am|i'm)(?: just| only)? (?:an?|a responsible|a responsible and ethical|a large|your) ?(?:[a-z]+ ){0,4}?(?:ai|a\.i\.|artificial intelligence|language model|chatbot|virtual assistant|ethical (?:and [a-z]+ )?assistant|responsible assistant|text-based ai)\b",
    ),
    Rule::new(
        "en/for-me",
        Support,
        Four,
        Flat(15),
        &WORDS,
        r"\b(?:for me to|i am programmed to|i'm programmed to|i aim to|my purpose is|i strive to|i'm designed to|i am designed to)\b",
    ),
    Rule::new(
        "en/subjectless-inability",
        Decline,
        First,
        Flat(60),
        &WORDS,
        r"^(?:(?:i'm |i am )?(?:very )?(?:sorry|apologies|my apologies|unfortunately)[,;.:-]* ?(?:but )?)?(?:can't|cannot|can not|won't|will not|unable to|not able to|not going to|not allowed to|refusing to) <adv>(?:<act>|do (?:that|this|so))\b|^(?:your |the |this )?(?:request|query|prompt|task) (?:was |has been |is )?(?:refused|denied|declined|rejected)(?:[.!]|$| (?:due|because|by|on)\b)",
    ),
    Rule::new(
        "en/told-not-to",
        Decline,
        Four,
        Flat(70),
        &WORDS,
        r"\bi(?:'ve| have|'m| am|was) (?:been )?<adv>(?:instructed|designed|told|trained|built|programmed|asked|configured|required|bound) <adv>(?:not to|to (?:avoid|decline|refuse|reject|refrain|stay away|steer clear|not))\b",
    ),
    Rule::new(
        "en/only-other-help",
        Obstacle,
        Two,
        Flat(45),
        &WORDS,
        r"\bi(?: can|'m| am)(?: here)? (?:only|just) (?:able to |here to )?(?:help|assist|answer|discuss|support)\b|\b(?:help|assist)(?: you)? with (?:something|anything|other [a-z]+|another [a-z]+)[^.]{0,20}(?:but|just) not (?:with )?(?:this|that)\b",
    ),
    Rule::new(
        "en/not-permitted",
        Decline,
        Four,
        Flat(55),
        &WORDS,
        r"\bi(?: am|'m) <adv>(?:not (?:allowed|permitted|authori[sz]ed|programmed|at liberty) to|(?:prohibited|forbidden|barred|restricted) from|unwilling to)\b|\bi (?:don't|do not|lack) (?:have )?(?:the )?(?:[a-z]+ )?(?:permission|clearance|authori[sz]ation|authority) to\b",
    ),
    Rule::new(
        "en/coordinated-inability",
        Decline,
        Two,
        Flat(55),
        &WORDS,
        r"\bi [^.!?;:]{3,60}(?:,| and| so| but)(?: i)? (?:will not|won't|cannot|can't|must not|am not able to|am unable to) <adv><act>\b",
    ),
    Rule::new(
        "en/line-not-crossed",
        Decline,
        Four,
        Flat(50),
        &WORDS,
        r"\b(?:my answer (?:is|will be|remains)|(?:my|the) answer (?:has to|must) be) (?:a (?:firm |clear )?)?no\b|\bthis (?:assistant|model|chatbot|service) (?:does not|doesn't|cannot|can't|will not|won't) (?:<act>)\b|\bno-go for me\b|\bmore than i(?: am|'m) (?:allowed|permitted|able|willing) to\b|\bas much as i(?: would|'d)(?: like| love)? (?:to )?(?:help|assist|answer|comply|oblige|do (?:this|that))\b|\b(?:things?|lines?) (?:that )?i (?:won't|will not|don't|refuse to|am not willing to|'m not willing to) (?:do|cross|touch)\b|\b(?:crosses (?:a|the)|cross(?:es|ing)? (?:that|this|my)) line\b|\bnot the right (?:tool|assistant|model|place) for (?:this|that)\b|\bwe(?: are|'re)? (?:cannot|can't|unable to|not able to|won't|will not) (?:help|assist)(?: you)? with (?:this|that|your <request>)\b",
    ),
    Rule::new(
        "en/helping-would-be",
        Obstacle,
        Two,
        Flat(50),
        &WORDS,
        r"\b(?:helping|assisting|complying|doing so|answering|translating|writing|generating|providing|producing) (?:(?:you|with|this|that|it|such|your|the) ){0,3}(?:[a-z]+ )?would (?:be (?:<wrong>|against|a (?:violation|breach))|violate|breach|require me|mean (?:helping|breaking)|go against|constitute|make me)",
    ),
    Rule::new(
        "en/would-like-to",
        Support,
        Two,
        Flat(25),
        &WORDS,
        r"\bi(?:'d| would) (?:really )?(?:love|like) to (?:help|assist)[^.]{0,20}\bbut\b|\bi aim to be helpful\b|\b(?:this|that) is not (?:allowed|permitted|possible)[.!]",
    ),
    Rule::new(
        "en/bare-no",
        Decline,
        First,
        Flat(60),
        &WORDS,
        r"^(?:(?:i'm |i am )?(?:sorry|apologies|my apologies|i apologize)[,;.]? (?:but )?)?(?:(?:thanks|thank you)[,.;]? (?:but )?)?(?:absolutely |definitely |certainly )?(?:no|nope|hard (?:no|pass)|that's a (?:hard |firm )?(?:no|pass)(?: from me)?|not possible|absolutely not|not going there|no can do|not happening|(?:no|nope)[.,!] not [a-z]+ing [a-z]+|i'd rather not)[.!,]? ?(?:$|i won't|i will not|not going)",
    ),
    Rule::new(
        "en/filter-notice",
        Filter,
        Head,
        Flat(80),
        &WORDS,
        r"\b(?:generated text has been blocked|(?:blocked|stopped|flagged|withheld|removed) by (?:our|the|a) (?:[a-z]+ ){0,2}(?:filter|management|moderation|safety)|content_filter\b|content[_ ]filtered\b|(?:triggered|stopped by|hit) (?:our|the|a) content filter|(?:response|answer|output|completion) (?:was|has been) (?:filtered|blocked|withheld|flagged))",
    ),
    Rule::new(
        "en/no-opinion",
        Support,
        Four,
        Flat(-25),
        &WORDS,
        r"\bi (?:don't|do not)(?: actually)? have (?:personal )?(?:any )?(?:opinions?|beliefs|feelings|emotions|access|enough information|information|real-time|preferences)|\b(?:don't|do not) (?:hold|form) (?:personal )?opinions",
    ),
    Rule::new(
        "en/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &WORDS,
        r"\b(?:no|without (?:a|an|the)) (?:document|text|file|attachment|article|image|transcript|content|e-?mail|data|pdf|photo|table|invoice|receipt|audio|source)s? (?:was|is|were|has been|seems? to (?:be|have been)|appears? to (?:be|have been)|came|provided|attached|included|in (?:your|the) (?:message|prompt))|\b(?:don't|do not|can't|cannot|didn't|did not) (?:actually )?(?:see|have|find|receive|get) (?:any|an|the|a|your) (?:[a-z]+ )?(?:document|text|file|attachment|article|image|transcript|content|e-?mail|data|pdf|photo|table|invoice|receipt|audio)s?\b|\b(?:document|text|file|attachment|article|image|transcript|content|e-?mail|pdf|photo|table|invoice|receipt|input)s? (?:is|are|was|were|seems?|appears?|came)(?: to be)?(?: through)? (?:missing|empty|blank|not (?:attached|included|provided)|cut off|too blurry|blurry|unreadable|illegible|corrupted?)",
    ),
    Rule::new(
        "en/input-wanted",
        NeedsInput,
        Head,
        Flat(40),
        &WORDS,
        r"\b(?:please|could you|can you|would you|if you|you'll need to|you need to|once you|kindly) (?:please )?(?:kindly )?(?:paste|attach|upload|re-?upload|resend|send|provide|share|supply|include)(?: me)?(?: with)? (?:the|your|a|an|that|it|its|some) ?(?:[a-z]+ ){0,2}?(?:document|text|file|attachment|article|image|transcript|contents?|e-?mail|pdf|photo|table|invoice|receipt|audio|passage|paragraph|source|scan|screenshot|recording|letter|contract|report|message|here|data|relevant (?:text|part)s?)\b",
    ),
    Rule::new(
        "en/link-closed",
        NeedsInput,
        Four,
        Flat(60),
        &WORDS,
        r"\bi(?: am|'m)? ?<adv>(?:can't|cannot|can not|unable to|not able to|(?:don't|do not) have (?:the|any) (?:ability|means|tools) to) (?:directly |actually )?(?:open|access|visit|follow|browse|view|read|load|click|fetch|retrieve|see|hear|play|listen to|watch) (?:or (?:open|access|visit|browse|view) )?(?:to )?(?:the |that |this |your |any |external |images?|an? )*(?:links?|urls?|websites?|web ?pages?|internet|web\b|attachments?|files?|images?|photos?|audio|videos?|recordings?|documents?|pdfs?)\b",
    ),
    Rule::new(
        "en/clarify",
        NeedsInput,
        Four,
        Flat(25),
        &WORDS,
        r"\b(?:could|can|would) you (?:please )?(?:provide (?:me with )?(?:some )?more (?:context|details|information)|clarify|be more specific|rephrase)|\bi (?:don't|do not) (?:quite |fully )?understand (?:the|your|what)",
    ),
    Rule::new(
        "en/makes-no-sense",
        Support,
        Two,
        Flat(-30),
        &WORDS,
        r"\b(?:does not|doesn't|did not) (?:make|seem to make) (?:any )?sense\b|\bbased on (?:a|an) (?:faulty|false|incorrect|mistaken) (?:premise|assumption)\b",
    ),
];
