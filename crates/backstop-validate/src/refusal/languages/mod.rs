//! The rules, one pack for each language.

mod arabic;
mod chinese;
mod dutch;
mod english;
mod french;
mod german;
mod hindi;
mod indonesian;
mod italian;
mod japanese;
mod korean;
mod polish;
mod portuguese;
mod russian;
mod spanish;
mod swedish;
mod turkish;
mod vietnamese;

use super::rule::Pack;

/// Every language's rules, the best measured first.
pub(crate) static PACKS: [&Pack; 18] = [
    &english::ENGLISH,
    &french::FRENCH,
    &german::GERMAN,
    &italian::ITALIAN,
    &korean::KOREAN,
    &spanish::SPANISH,
    &portuguese::PORTUGUESE,
    &dutch::DUTCH,
    &swedish::SWEDISH,
    &polish::POLISH,
    &russian::RUSSIAN,
    &chinese::CHINESE,
    &japanese::JAPANESE,
    &arabic::ARABIC,
    &hindi::HINDI,
    &turkish::TURKISH,
    &indonesian::INDONESIAN,
    &vietnamese::VIETNAMESE,
];
