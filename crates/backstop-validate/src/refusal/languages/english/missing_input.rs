//! English requests for input that was not there.

use super::words::WORDS;
use crate::refusal::rule::Rule;
use crate::refusal::rule::Scope::{Four, Head};
use crate::refusal::rule::Signal::NeedsInput;
use crate::refusal::rule::Weight::Flat;

pub(super) static RULES: [Rule; 5] = [
    Rule::new(
        "en/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &WORDS,
        concat!(
            r"\b(?:no|without (?:a|an|the)) (?:document|text|file|attachment|article|image|transcript",
            r"|content|e-?mail|data|pdf|photo|table|invoice|receipt|audio|source)s? (?:was|is|were",
            r"|has been|seems? to (?:be|have been)|appears? to (?:be|have been)|came|provided|attached",
            r"|included|in (?:your|the) (?:message|prompt))|\b(?:don't|do not|can't|cannot|didn't",
            r"|did not) (?:actually )?(?:see|have|find|receive|get) (?:any|an|the|a",
            r"|your) (?:[a-z]+ )?(?:document|text|file|attachment|article|image|transcript|content|e-?mail",
            r"|data|pdf|photo|table|invoice|receipt|audio)s?\b",
            r"|(?:^|[.!,:;] |but |that |like )(?:the|your|this) (?:[a-z]+ )?(?:document|text|file|attachment|article",
            r"|image|transcript|content|e-?mail|pdf|photo|table|invoice|receipt|input)s? (?:is|are|was",
            r"|were|seems?|appears?|came)(?: to be)?(?: through)? (?:missing|empty|blank|not (?:attached",
            r"|included|provided)|cut off|too blurry|blurry|unreadable|illegible|corrupted?)",
        ),
    ),
    Rule::new(
        "en/input-wanted",
        NeedsInput,
        Head,
        Flat(40),
        &WORDS,
        concat!(
            r"\b(?:please|could you|can you|would you|if you|you'll need to|you need to|once you",
            r"|kindly) (?:please )?(?:kindly )?(?:paste|attach|upload|re-?upload|resend|send|provide|share",
            r"|supply|include)(?: me)?(?: with)? (?:the|your|a|an|that|it|its",
            r"|some) ?(?:[a-z]+ ){0,2}?(?:document|text|file|attachment|article|image|transcript|contents?",
            r"|e-?mail|pdf|photo|table|invoice|receipt|audio|passage|paragraph|source|scan|screenshot",
            r"|recording|letter|contract|report|message|here|data|relevant (?:text|part)s?)\b",
        ),
    ),
    Rule::new(
        "en/link-closed",
        NeedsInput,
        Four,
        Flat(60),
        &WORDS,
        concat!(
            r"\bi(?: am|'m)? ?<adv>(?:can't|cannot|can not|unable to|not able to|(?:don't",
            r"|do not) have (?:the|any) (?:ability|means|tools) to) (?:directly |actually )?(?:open|access",
            r"|visit|follow|browse|view|read|load|click|fetch|retrieve|see|hear|play|listen to",
            r"|watch) (?:or (?:open|access|visit|browse|view) )?(?:to )?(?:the |that |this |your |any ",
            r"|external |images?|an? )*(?:links?|urls?|websites?|web ?pages?|attachments?",
            r"|files?|images?|photos?|audio|videos?|recordings?|documents?|pdfs?)\b",
        ),
    ),
    Rule::new(
        "en/clarify",
        NeedsInput,
        Four,
        Flat(25),
        &WORDS,
        concat!(
            r"\b(?:could|can|would) you (?:please )?(?:provide (?:me with )?(?:some )?more (?:context",
            r"|details|information)|clarify|be more specific|rephrase)|\bi (?:don't|do not) (?:quite ",
            r"|fully )?understand (?:the|your|what)",
        ),
    ),
    Rule::new(
        "en/input-purpose",
        NeedsInput,
        Head,
        Flat(25),
        &WORDS,
        concat!(
            r"\b(?:so (?:that )?i can|and i(?:'ll| will| can|'d)|(?:like|want|need) me to|for me to|i'?ll be (?:happy|glad)",
            r"|before i can|then i can)\b",
        ),
    ),
];
