//! English. The rules are about forms of speech (first person, inability, an act asked for), not about stock phrases:
//! refusals that quote no list of openings are the ones that get through elsewhere.

mod declines;
mod deflections;
mod missing_input;
mod obstacles;
mod words;

use crate::refusal::Language;
use crate::refusal::pattern::Pattern;
use crate::refusal::rule::Pack;

pub(crate) static ENGLISH: Pack = Pack {
    language: Language::English,
    cue: Pattern::new(
        "can't|cannot|can not|won't|will not|n't|not |never|unable|unwilling|declin|refus|sorry|apolog|afraid\
         |unfortunately|regret|violat|against|policy|policies|guideline|outside|beyond|prohibit|forbid|forbidden\
         |restricted|prevent|abstain|refrain|pass on|say no|inappropriate|unethical|immoral|illegal|harmful|illegitimate\
         |nope|no[.,!]|condemn|let's|different|something else|blocked|filter|please|could you|unreadable|blurry|no \
         |cant |wont |lack |cut off|missing|empty|blank|corrupt|illegible|going through|harm|only |just |instructed|designed|trained|draw|steer|stay |sit |line |request |hard |aim to|as much as|rejected|denied|would (?:violate|breach|mean|make)|uncomfortable|wrong|irresponsible|stop |rules|avoid|breaking|turn |got to|withhold|opting|opt out|skip|answer |no-go|something i|off the table|out of reach| leave |off limits|off-limits|omitted|breach|no part|no access|nothing else|limited|not the right|keep out|keep that|keep this|keep it|where i |rule that|rule this|no way|training |respect|caution|safety|somewhere else|excluded|skipped|flagged|filtered|suppressed|better partner|trained for|lack|more than i|instructions|crime|offence|offense|unlawful|wrong|reach out|line|alone",
        &[],
    ),
    rules: &[&declines::RULES, &obstacles::RULES, &deflections::RULES, &missing_input::RULES],
};
