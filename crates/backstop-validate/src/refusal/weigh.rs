//! Runs the rules over a head and adds up what they say.

use std::ops::Range;

use super::head::Head;
use super::languages::PACKS;
use super::rule::{Pack, Rule, Scope, Signal};
use super::score::Score;
use super::shape;
use super::{Evidence, Language};

/// A decline this near the start outweighs what follows it: some models decline first and then write a page.
const OPENING: usize = 60;
/// A decline that starts within this many bytes is the answer's own voice, whoever is quoted after it.
const FIRST_WORDS: usize = 10;
/// The most that lists, length and a turn to an answer can take from a decline in the opening words.
const OPENING_DISCOUNT: i32 = 30;
/// An answer this short has no room for anything but the refusal.
const SHORT: usize = 220;
/// An answer that only asks for its input is no longer than this.
const LONGEST_REQUEST: usize = 600;
/// An answer this short that changes the topic says nothing else.
const TERSE: usize = 130;

/// Compiles the patterns of these languages (all, if `None`). Tells how many cannot be.
pub(crate) fn prepare(languages: Option<&[Language]>) -> usize {
    let packs = PACKS.iter().filter(|pack| languages.is_none_or(|only| only.contains(&pack.language)));
    let of_packs = packs.flat_map(|pack| pack.rules().map(|rule| &rule.pattern).chain([&pack.cue]));
    of_packs.chain(shape::patterns()).filter(|pattern| !pattern.prepare()).count()
}

/// One rule's match in the head.
struct Hit<'r> {
    rule: &'r Rule,
    part: Range<usize>,
    points: i32,
}

/// Scores a text whose head is at hand. `languages` limits the packs; `cut_off` says that the text is not complete.
pub(crate) fn weigh(text: &str, head: Head, languages: Option<&[Language]>, cut_off: bool) -> Score {
    let mut score = Score::default();
    let enabled = |pack: &&&Pack| languages.is_none_or(|only| only.contains(&pack.language));
    let hits: Vec<(Language, Vec<Hit<'_>>)> = PACKS
        .iter()
        .filter(enabled)
        .filter(|pack| pack.cue.is_match(head.text()))
        .map(|pack| (pack.language, run(pack, &head)))
        .collect();
    let first_sentence = head.sentences(1).len();
    let mut opening = false;
    let mut best = 0;
    for (language, hits) in hits {
        let weight: i32 = hits.iter().map(|hit| hit.points.max(0)).sum();
        if weight > best {
            best = weight;
            score.language = Some(language);
        }
        for hit in hits {
            opening |= matches!(hit.rule.signal, Signal::Decline | Signal::Obstacle)
                && (hit.part.start < OPENING
                    || (language != Language::English && hit.part.start < first_sentence));
            score.opens_with_decline |= hit.rule.signal == Signal::Decline && hit.part.start < FIRST_WORDS;
            score.add(&head, &hit);
        }
    }
    if score.points() > 0 || score.input > 0 {
        shape::form(text, &head, &mut score);
        let length = shape::substance(text, opening.then_some(OPENING_DISCOUNT), &mut score);
        if !cut_off {
            brevity(length, &mut score);
        }
        // "Please send the invoice" in a letter or on page two is what was asked for, not a question back.
        if length > LONGEST_REQUEST
            || score.evidence.iter().any(|evidence| evidence.rule.starts_with("form: "))
        {
            score.input = 0;
        }
    }
    score
}

/// An answer with room for nothing but the refusal is one; form that speaks against it weighs more.
fn brevity(length: usize, score: &mut Score) {
    let has = |rule: fn(&str) -> bool| score.evidence.iter().any(|evidence| rule(evidence.rule));
    if score.declined > 0 {
        if length < SHORT && !has(|rule| rule.starts_with("form: ")) {
            score.note("short", 10);
        }
    } else if length < TERSE && has(|rule| rule.ends_with("/other-topic")) {
        score.note("nothing but a change of topic", 25);
    }
}

/// The hits of one pack; of several declines only the best.
fn run<'r>(pack: &'r Pack, head: &Head) -> Vec<Hit<'r>> {
    let mut head_text = head.text().to_owned();
    let mut hits: Vec<Hit<'r>> = Vec::new();
    let first_sentence = head.sentences(1).len();
    for rule in pack.rules() {
        let end = scope_end(head, rule.scope);
        if rule.signal == Signal::Benign {
            let found: Vec<_> = rule.pattern.find_all(head_text.get(..end).unwrap_or_default()).collect();
            for part in found {
                let blank = " ".repeat(part.len());
                head_text.replace_range(part, &blank);
            }
            continue;
        }
        let Some(part) = head_text.get(..end).and_then(|scope| rule.pattern.find(scope)) else { continue };
        let points = rule.weight.points(part.start, first_sentence);
        keep_best_decline(&mut hits, Hit { rule, part, points });
    }
    hits
}

fn keep_best_decline<'r>(hits: &mut Vec<Hit<'r>>, hit: Hit<'r>) {
    if hit.rule.signal == Signal::Decline {
        if let Some(earlier) = hits.iter_mut().find(|earlier| earlier.rule.signal == Signal::Decline) {
            if hit.points > earlier.points {
                *earlier = hit;
            }
            return;
        }
    }
    hits.push(hit);
}

fn scope_end(head: &Head, scope: Scope) -> usize {
    match scope {
        Scope::First => head.sentences(1).len(),
        Scope::Two => head.sentences(2).len(),
        Scope::Four => head.sentences(4).len(),
        Scope::Head => head.text().len(),
    }
}

impl Score {
    fn add(&mut self, head: &Head, hit: &Hit<'_>) {
        match hit.rule.signal {
            Signal::Decline => self.declined += hit.points,
            Signal::Obstacle => {
                self.declined += hit.points;
                self.obstacle = true;
            }
            Signal::Filter => {
                self.declined += hit.points;
                self.filtered += hit.points;
            }
            Signal::Deflect => self.deflected += hit.points,
            Signal::NeedsInput => self.input += hit.points,
            Signal::Support | Signal::Benign => {}
        }
        // Missing input is weighed against a refusal, it is none of it.
        let points = if hit.rule.signal == Signal::NeedsInput { 0 } else { hit.points };
        self.evidence.push(Evidence { span: head.origin(&hit.part), rule: hit.rule.name, points });
    }
}
