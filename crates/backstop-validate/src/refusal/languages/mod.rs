//! The rules, one pack for each language or family of languages.

mod east_asian;
mod english;
mod germanic;
mod others;
mod romance;
mod slavic;

use super::rule::Pack;

/// Every language's rules, the best measured first.
pub(crate) static PACKS: [&Pack; 18] = [
    &english::ENGLISH,
    &romance::FRENCH,
    &germanic::GERMAN,
    &romance::ITALIAN,
    &east_asian::KOREAN,
    &romance::SPANISH,
    &romance::PORTUGUESE,
    &germanic::DUTCH,
    &germanic::SWEDISH,
    &slavic::POLISH,
    &slavic::RUSSIAN,
    &east_asian::CHINESE,
    &east_asian::JAPANESE,
    &others::ARABIC,
    &others::HINDI,
    &others::TURKISH,
    &others::INDONESIAN,
    &others::VIETNAMESE,
];
