//! Turkish.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Two};
use crate::refusal::rule::Signal::{Benign, Decline, Deflect, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static TURKISH: Pack = Pack {
    language: Language::Turkish,
    cue: Pattern::new(
        concat!(
            "üzgünüm|maalesef|özür|olamam|edemem|amam|emem[ .,;!]|emem$|mıyorum|miyorum|muyorum|değilim",
            "|redd|ihlal|aykırı|lütfen|yok|bulunmuyor|göremiyorum|eklen|veremem|mıyorum|miyorum|müyorum",
            "|meyeceğim|mayacağım|emem[ .,;!]|emem$|amam|değil|yok|mem[.,!]|mam[.,!]|başka|konuyu",
            "|engellen|reddedil|yalnızca|sadece|hayır|kaçın|uzak dur|filtre|oluşturulma|üretilme|işlenem",
            "|maz|mez|memeyi|mamayı|dışında|aşıyor|düşmez|bilemem|sona er|sınırlı|kadar|imkansız|imkânsız",
            "|olmaz|yasak|izin verilm|verilmeyecek|çekimser|geri çevir|atlan|karşılanam|amay|emey|aşar",
            "|ötesinde|uygunsuz|bağlantı|dosya",
        ),
        &[],
    ),
    rules: &[&TURKISH_RULES],
};

static TURKISH_WORDS: [Word; 4] = [
    (
        "cannot",
        concat!(
            "(?:yardımcı olam(?:am|ıyorum|ayacağım)|yardım edem(?:em|iyorum|eyeceğim)|destek olam(?:am",
            "|ıyorum)|sağlayam(?:am|ıyorum|ayacağım)|oluşturam(?:am|ıyorum|ayacağım)|ver(?:emem|emiyorum",
            "|emeyeceğim)|yanıtlayam(?:am|ıyorum|ayacağım)|cevaplayam(?:am|ıyorum)|yanıt verem(?:em",
            "|iyorum)|yerine getirem(?:em|iyorum|eyeceğim)|yazam(?:am|ıyorum|ayacağım)|paylaşam(?:am",
            "|ıyorum|ayacağım)|çevirem(?:em|iyorum)|özetleyem(?:em|iyorum)|işleyem(?:em|iyorum)",
            "|üretem(?:em|iyorum)|açıklayam(?:am|ıyorum)|yapam(?:am|ıyorum|ayacağım)|sunam(?:am|ıyorum)",
            "|tartışam(?:am|ıyorum)|devam edem(?:em|iyorum)|katılam(?:am|ıyorum) bu isteğe)",
        ),
    ),
    (
        "verb",
        concat!(
            "(?:yardımcı ol|yardım e[dt]|destek ol|sağla|oluştur|ver|yanıtla|cevapla|getir|yaz|paylaş",
            "|çevir|özetle|işle|üret|açıkla|yap|sun|tartış|devam e[dt]|aktar|kopyala|alıntıla|oku",
            "|değerlendir|söyle|belirt|adlandır|tanımla|tespit e[dt]|listele|sırala|seç|yorumla|öner",
            "|tavsiye e[dt]|tahmin e[dt]|hesapla|analiz e[dt]|dinle|göster|yayınla|yayımla|koy|canlandır",
            "|taklit e[dt]|uydur|tasarla|çiz|bulun|konuş|bahse[dt]|gir|hazırla|düzenle|çıkar|derle|ilet",
            "|deşifre e[dt]|anlat|öğret|destekle|kabul e[dt]|eşlik e[dt]|ortak ol|alet ol|dahil ol",
            "|taraf tut|katkı sağla|yer al|kur|ifşa e[dt]|aç|oyna|sürdür|tekrarla|yer ver|uygula",
            "|tercüme e[dt]|karar ver|görüş bildir|bildir|yönlendir|karşıla|dile getir|icra e[dt]|ele al",
            "|sürdür|teşhis e[dt]|okuyup ver)",
        ),
    ),
    (
        "reason",
        concat!(
            "(?:politika|kural|ilke|güvenlik|gizlilik|kişisel|telif|hassas|zararlı|tehlikeli|yasak",
            "|yasadışı|yasa dışı|şiddet|aykırı|ihlal|koşul|uygunsuz|nefret|filtre|mahrem|saygı)",
        ),
    ),
    (
        "thing",
        concat!(
            "(?:istek|isteğiniz|isteğin|talep|talebiniz|talebin|yanıt|cevap|özet|çeviri|içerik|içeriğ",
            "|belge|metin|metn|girdi|sorgu|sorunuz|çıktı|dosya|mesaj|liste|adım|isim)",
        ),
    ),
];

static TURKISH_RULES: [Rule; 11] = [
    Rule::new(
        "tr/not-inability",
        Benign,
        Four,
        Flat(0),
        &TURKISH_WORDS,
        concat!(
            "(?:gelemem|gelemeyeceğim|katılamayacağım|bekleyemem|inanamıyorum|unutamam|gidemem",
            "|bulamıyorum|vazgeçmeyeceğim|unutmayacağım)|(?:yok|değilim|bilmiyorum),? ama (?:ortalama",
            "|genelde|genellikle)",
        ),
    ),
    Rule::new(
        "tr/inability",
        Decline,
        Four,
        Opening(85, 70),
        &TURKISH_WORDS,
        concat!(
            "<cannot>|(?:vermem|yapmam|yazmam|paylaşmam|sağlamam|yanıtlamam|oluşturmam|yardımcı olmam",
            "|yardım etmem)[a-zıüöşçğ]* (?:mümkün değil|uygun değil|doğru olmaz)|<verb>(?:y?(?:ama",
            r"|eme)(?:m\b|yacağım|yeceğim)|y?(?:amıyorum|emiyorum)|m(?:ayacağım|eyeceğim|ıyorum|iyorum",
            "|uyorum|üyorum)|m[ae]m(?:[.,;!]|$))|<verb>y?[ae]c(?:ak|ek) değilim",
            "|<verb>m[ae]k (?:istem(?:iyorum|em)|niyetinde değilim|bana düşmez|benim (?:işim|görevim",
            "|haddim) değil|içimden gelmiyor)|<verb>m[ae](?:m|si|k",
            "|mız)?[ae]?(?: [a-zçğıöşü]+)? (?:mümkün değil|doğru olmaz|uygun (?:değil|olmaz)|doğru değil",
            "|söz konusu değil|imkansız|imkânsız|bana düşmez)|(?:yetkim|iznim|imkanım|imkânım",
            "|yetkinliğim) (?:yok|bulunmuyor)|(?:yetkili|uygun kişi|doğru adres|izinli|programlı|hazır",
            "|istekli) değilim|bana düşmez|haddim değil|benim (?:işim|görevim|yerim|rolüm) değil|(?:uygun",
            "|doğru) (?:bul|gör)m[uü]yorum|(?:bırakıyorum|bırakmayı tercih)",
        ),
    ),
    Rule::new(
        "tr/decline",
        Decline,
        Four,
        Opening(85, 70),
        &TURKISH_WORDS,
        concat!(
            "(?:reddediyorum|reddetmek (?:zorundayım|durumundayım)|reddetmeliyim|geri çevirmek zorundayım",
            "|yapmamayı tercih)|(?:reddedeceğim|reddederim|reddetmem gerek|geri çeviriyorum",
            "|geri çevireceğim|hayır demek (?:zorundayım|durumundayım)|hayır demem gerek|kaçınıyorum",
            "|kaçınacağım|çekimser kal|uzak duruyorum|uzak duracağım|m[ae]mayı (?:tercih|seçiyorum)",
            "|m[ae]meyi (?:tercih|seçiyorum)|(?:yapmamayı|yazmamayı|etmemeyi|vermemeyi) (?:tercih|seç)",
            "|cevabım (?:hâlâ |hala )?hayır)",
        ),
    ),
    Rule::new(
        "tr/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &TURKISH_WORDS,
        "(?:politika|ilke|kural|yönerge|kullanım koşul)[a-zıüöşçğ]* (?:aykırı|ihlal)",
    ),
    Rule::new(
        "tr/apology",
        Support,
        First,
        Flat(20),
        &TURKISH_WORDS,
        concat!(
            "^(?:üzgünüm,? (?:ama|ancak|bu|size|fakat)|maalesef|özür dilerim,? (?:ama|ancak|bu))",
            "|(?:dil modeli|yapay zeka) (?:olarak|olduğum)",
        ),
    ),
    Rule::new(
        "tr/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &TURKISH_WORDS,
        concat!(
            "(?:belge|metin|dosya|ek|görsel|makale)[a-zıüöşçğ]* (?:göremiyorum|bulunmuyor|eklenmemiş",
            r"|yok\b|bulamadım|gelmedi)|lütfen (?:[^ .]+ )?(?:belgeyi|metni|dosyayı|görseli",
            "|makaleyi) [^.]{0,16}(?:ekle|yapıştır|gönder|paylaş|yükle)|(?:bağlantı|link|dosya",
            "|ek)[a-zçğıöşü]* (?:açam|göremi|erişemi)",
        ),
    ),
    Rule::new(
        "tr/beyond-my-scope",
        Obstacle,
        Four,
        Flat(55),
        &TURKISH_WORDS,
        concat!(
            "(?:kapsamım|yetkim|yetki alanım|görev alanım|uzmanlığım|sınırlarım|yapabileceklerim",
            "|yapabildiklerim)[a-zçğıöşü]* (?:dışında|aşıyor|aşar|ötesinde)|bana (?:verilen",
            "|tanınan)[^.!?]{0,20}(?:dışında|aşıyor)",
        ),
    ),
    Rule::new(
        "tr/refused-by-machine",
        Obstacle,
        Four,
        Flat(60),
        &TURKISH_WORDS,
        concat!(
            "<thing>[^.!?]*(?:reddedil|engellen|geri çevril|filtrelen|durdurul|kısıtlan|işlenem|işlenme",
            "|oluşturulma|oluşturulama|üretilme|üretileme|sağlanamı|verilemi|karşılanam|yanıtlanam|atlan",
            "|çıkarıl|gösterilem)[^.!?]*(?:[.] ?[^.!?]*)?<reason>|<reason>[^.!?]*(?:reddedil|engellen",
            "|geri çevril|filtrelen|durdurul|işlenem|işlenme|oluşturulma|oluşturulama|üretilme|üretileme",
            "|sağlanamı|verilemi|karşılanam|yanıtlanam|atlan|gösterilem)|(?:yanıt|özet|çeviri|çıktı",
            "|cevap)[a-zçğıöşü]* (?:oluşturulmadı|üretilmedi|oluşturulmayacak|üretilmeyecek|verilmeyecek",
            "|verilmedi)|^(?:izin verilmeyen|yasak|uygunsuz) içerik",
        ),
    ),
    Rule::new(
        "tr/assistant-does-not",
        Decline,
        Four,
        Flat(60),
        &TURKISH_WORDS,
        concat!(
            "(?:^|[ .])(?:bu|asistanımız|sohbet robotumuz) ?(?:[^ .]+ )?(?:asistan|sohbet robotu|bot",
            r"|sanal yardımcı|chatbot)[^.!?]*(?:m[ae]z\b|m[ae]maktadır|mıyor|miyor|muyor|müyor|yalnızca",
            "|sadece|değil)",
        ),
    ),
    Rule::new(
        "tr/no-live-data",
        Decline,
        Four,
        Flat(55),
        &TURKISH_WORDS,
        concat!(
            "(?:güncel|canlı|anlık|gerçek zamanlı|internet|takvim|hesab|kayıt)[^.!?]*(?:erişimim (?:yok",
            "|bulunmuyor)|erişemiyorum|erişemem|bilmiyorum|bilemem|bağlı değilim|sahip değilim|bilgim yok",
            "|elimde yok|göremiyorum)|(?:internete|canlı|ağa)[^.!?]{0,20}bağlı değilim|(?:bilgilerim",
            "|bilgim|eğitimim|verilerim)[^.!?]{0,24}(?:sona er|sınırlı|kadar|bitiyor)",
        ),
    ),
    Rule::new(
        "tr/other-topic",
        Deflect,
        Two,
        Flat(30),
        &TURKISH_WORDS,
        concat!(
            "başka (?:bir )?(?:konu|şey)[a-zçğıöşü]*[^.!?]*(?:konuşalım|geçelim|bahsedelim|konuşmaya",
            "|ister misin|konuşsak|ne dersin)|konuyu (?:burada )?(?:kapat|değiştir)",
        ),
    ),
];
