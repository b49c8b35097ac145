//! Arabic, Hindi, Turkish, Indonesian and Vietnamese: small packs, measured on the project's own texts only.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four};
use crate::refusal::rule::Signal::{Decline, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static ARABIC: Pack = Pack {
    language: Language::Arabic,
    cue: Pattern::new(
        concat!(
            "لا أستطيع|لا يمكن|لن |لا أقدر|لست |أعتذر|عذر|آسف|أرفض|ينتهك|يخالف|يتعارض|غير قادر|لم |لا أرى",
            "|لا يوجد|يرجى|ليس",
        ),
        &[],
    ),
    rules: &[&ARABIC_RULES],
};

static ARABIC_WORDS: [Word; 1] = [(
    "act",
    concat!(
        "(?:مساعد|أساعد|تقديم|أقدم|إنشاء|الإجابة|أجيب|توفير|تلبية|كتابة|أكتب|معالجة|ترجمة|تلخيص|شرح",
        "|مشاركة|تنفيذ|المشاركة|إعطاء|مناقشة|الكشف|وصف|توليد|القيام|الرد|إكمال|أن أفعل|دعم)",
    ),
)];

static ARABIC_RULES: [Rule; 5] = [
    Rule::new(
        "ar/inability",
        Decline,
        Four,
        Opening(85, 70),
        &ARABIC_WORDS,
        concat!(
            r"(?:لا أستطيع|لا يمكنني|لن أتمكن|لا أقدر|لن أستطيع|لست قادر|غير قادر|لن أقوم|لا يسمح لي",
            r"|غير مسموح لي|لست مخول|ليس بإمكاني|ليس بوسعي)[^.؟!]{0,30}<act>|أعتذر عن (?:عدم|تقديم|الإجابة",
            r"|تلبية)",
        ),
    ),
    Rule::new(
        "ar/decline",
        Decline,
        Four,
        Opening(85, 70),
        &ARABIC_WORDS,
        r"(?:^|[ ،])(?:يجب أن |علي أن |أنا |مضطر أن )?أرفض (?:هذا|تقديم|كتابة|القيام|الإجابة|المساعدة|طلب)",
    ),
    Rule::new(
        "ar/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &ARABIC_WORDS,
        r"(?:ينتهك|يخالف|يتعارض مع|تنتهك|تخالف) (?:هذا )?(?:سياس|إرشادات|مبادئ|قواعد|شروط)",
    ),
    Rule::new(
        "ar/apology",
        Support,
        First,
        Flat(20),
        &ARABIC_WORDS,
        r"^(?:أنا )?(?:أعتذر،? (?:لكن|ولكن|لا)|آسف|عذر[اً]+،? (?:لكن|ولكن|لا)|للأسف)|بصفتي (?:نموذج|ذكاء)",
    ),
    Rule::new(
        "ar/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &ARABIC_WORDS,
        concat!(
            r"(?:لا أرى|لا يوجد|لم (?:أجد|أتلق|يتم إرفاق|ترفق))[^.]{0,16} ?(?:مستند|نص|ملف|مرفق|صورة|مقال)",
            r"|(?:يرجى|هل يمكنك|الرجاء|من فضلك)[^.]{0,10}(?:إرفاق|لصق|إرسال|مشاركة|تحميل",
            r"|تزويدي)[^.]{0,10}(?:المستند|النص|الملف|الصورة|المقال)",
        ),
    ),
];

pub(crate) static HINDI: Pack = Pack {
    language: Language::Hindi,
    cue: Pattern::new("नहीं|माफ|क्षमा|खेद|इनकार|इंकार|उल्लंघन|ख़िलाफ़|खिलाफ|असमर्थ|कृपया", &[]),
    rules: &[&HINDI_RULES],
};

static HINDI_WORDS: [Word; 1] = [("does", "(?:कर|दे|बना|बता|लिख|पूरा कर|समझा|साझा कर|जवाब दे|उत्तर दे)")];

static HINDI_RULES: [Rule; 5] = [
    Rule::new(
        "hi/inability",
        Decline,
        Four,
        Opening(85, 70),
        &HINDI_WORDS,
        concat!(
            r"(?:मैं|मुझे|हम) [^।?!]{0,70}(?:<does> नहीं सक|नहीं <does> सक|<does> पाने में असमर्थ",
            r"|नहीं (?:करूँगा|करूंगा|करूँगी|दूँगा|दूंगा|दूँगी|लिखूँगा|बताऊँगा)|करने में असमर्थ",
            r"|देने में असमर्थ|की अनुमति नहीं)",
        ),
    ),
    Rule::new(
        "hi/decline",
        Decline,
        Four,
        Opening(85, 70),
        &HINDI_WORDS,
        r"(?:इनकार|इंकार|मना) (?:करना (?:होगा|पड़ेगा|चाहूँगा)|करता|करती) ?(?:हूँ|हूं)?",
    ),
    Rule::new(
        "hi/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &HINDI_WORDS,
        concat!(
            r"(?:नीति|नीतियों|दिशानिर्देशों|दिशा-निर्देशों|नियमों|सिद्धांतों) (?:का उल्लंघन|के (?:ख़िलाफ़",
            r"|खिलाफ|विरुद्ध))",
        ),
    ),
    Rule::new(
        "hi/apology",
        Support,
        First,
        Flat(20),
        &HINDI_WORDS,
        concat!(
            r"^(?:माफ़? कीजिए|माफ़ कीजिए|क्षमा करें|मुझे खेद है|खेद है|मुझे माफ़ करें)|(?:भाषा मॉडल|एआई",
            r"|ai) (?:के रूप में|होने के नाते)",
        ),
    ),
    Rule::new(
        "hi/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &HINDI_WORDS,
        concat!(
            r"(?:दस्तावेज़|दस्तावेज|पाठ|फ़ाइल|फाइल|संलग्नक|छवि|लेख)[^।]{0,20}(?:नहीं (?:मिला|मिली|दिख|है)",
            r"|संलग्न नहीं)|कृपया [^।]{0,24}(?:दस्तावेज़|दस्तावेज|पाठ|फ़ाइल|फाइल|छवि",
            r"|लेख)[^।]{0,16}(?:संलग्न|पेस्ट|भेज|साझा|अपलोड|प्रदान)",
        ),
    ),
];

pub(crate) static TURKISH: Pack = Pack {
    language: Language::Turkish,
    cue: Pattern::new(
        concat!(
            "üzgünüm|maalesef|özür|olamam|edemem|amam|emem|mıyorum|miyorum|muyorum|değilim|redd|ihlal",
            "|aykırı|lütfen|yok|bulunmuyor|göremiyorum|eklen|veremem",
        ),
        &[],
    ),
    rules: &[&TURKISH_RULES],
};

static TURKISH_WORDS: [Word; 1] = [(
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
)];

static TURKISH_RULES: [Rule; 5] = [
    Rule::new(
        "tr/inability",
        Decline,
        Four,
        Opening(85, 70),
        &TURKISH_WORDS,
        concat!(
            r"<cannot>|(?:vermem|yapmam|yazmam|paylaşmam|sağlamam|yanıtlamam|oluşturmam|yardımcı olmam",
            r"|yardım etmem)[a-zıüöşçğ]* (?:mümkün değil|uygun değil|doğru olmaz)",
        ),
    ),
    Rule::new(
        "tr/decline",
        Decline,
        Four,
        Opening(85, 70),
        &TURKISH_WORDS,
        concat!(
            r"(?:reddediyorum|reddetmek (?:zorundayım|durumundayım)|reddetmeliyim|geri çevirmek zorundayım",
            r"|yapmamayı tercih)",
        ),
    ),
    Rule::new(
        "tr/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &TURKISH_WORDS,
        r"(?:politika|ilke|kural|yönerge|kullanım koşul)[a-zıüöşçğ]* (?:aykırı|ihlal)",
    ),
    Rule::new(
        "tr/apology",
        Support,
        First,
        Flat(20),
        &TURKISH_WORDS,
        concat!(
            r"^(?:üzgünüm,? (?:ama|ancak|bu|size|fakat)|maalesef|özür dilerim,? (?:ama|ancak|bu))",
            r"|(?:dil modeli|yapay zeka) (?:olarak|olduğum)",
        ),
    ),
    Rule::new(
        "tr/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &TURKISH_WORDS,
        concat!(
            r"(?:belge|metin|dosya|ek|görsel|makale)[a-zıüöşçğ]* (?:göremiyorum|bulunmuyor|eklenmemiş",
            r"|yok\b|bulamadım|gelmedi)|lütfen (?:[^ .]+ )?(?:belgeyi|metni|dosyayı|görseli",
            r"|makaleyi) [^.]{0,16}(?:ekle|yapıştır|gönder|paylaş|yükle)",
        ),
    ),
];

pub(crate) static INDONESIAN: Pack = Pack {
    language: Language::Indonesian,
    cue: Pattern::new("tidak|maaf|menolak|sayangnya|melanggar|bertentangan|belum|silakan|mohon|tanpa", &[]),
    rules: &[&INDONESIAN_RULES],
};

static INDONESIAN_WORDS: [Word; 1] = [(
    "act",
    concat!(
        "(?:membantu|memberikan|memberi|membuat|menjawab|menyediakan|memproses|menulis|menghasilkan",
        "|menerjemahkan|merangkum|meringkas|menjelaskan|membagikan|melanjutkan|melakukan|memenuhi",
        "|mendukung|membahas|mengungkapkan|berpartisipasi|menyusun|mengerjakan|menuliskan|menanggapi",
        "|merespons)",
    ),
)];

static INDONESIAN_RULES: [Rule; 5] = [
    Rule::new(
        "id/inability",
        Decline,
        Four,
        Opening(85, 70),
        &INDONESIAN_WORDS,
        concat!(
            r"\b(?:saya|kami|aku) (?:juga |mohon maaf,? |minta maaf,? (?:tetapi ",
            r"|tapi )?(?:saya )?)?(?:tidak|tak|belum) (?:dapat|bisa|mampu|akan|boleh|diizinkan(?: untuk)?",
            r"|diperbolehkan(?: untuk)?|berwenang(?: untuk)?|mau|bersedia)(?: [a-z]+){0,3} <act>",
            r"|\bmaaf,? (?:tetapi |tapi |namun )?(?:saya )?(?:tidak|tak) (?:dapat",
            r"|bisa)(?: [a-z]+){0,3} <act>",
        ),
    ),
    Rule::new(
        "id/decline",
        Decline,
        Four,
        Opening(85, 70),
        &INDONESIAN_WORDS,
        concat!(
            r"\bsaya (?:harus |terpaksa |memilih untuk )?menolak\b|\bsaya (?:memilih",
            r"|lebih suka) (?:untuk )?tidak\b",
        ),
    ),
    Rule::new(
        "id/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &INDONESIAN_WORDS,
        concat!(
            r"\b(?:melanggar|bertentangan dengan) (?:[a-z]+ )?(?:kebijakan|pedoman|aturan|prinsip",
            r"|ketentuan)\b|\bpermintaan (?:ini|anda) tidak dapat (?:diproses|dipenuhi)",
        ),
    ),
    Rule::new(
        "id/apology",
        Support,
        First,
        Flat(20),
        &INDONESIAN_WORDS,
        concat!(
            r"^(?:maaf,? (?:tetapi|tapi|saya|namun)|mohon maaf,? (?:saya|tetapi|namun)|sayangnya)",
            r"|\bsebagai (?:model bahasa|ai|kecerdasan buatan|asisten)\b",
        ),
    ),
    Rule::new(
        "id/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &INDONESIAN_WORDS,
        concat!(
            r"\b(?:tidak (?:melihat|menemukan|ada|menerima)|belum (?:melihat|ada",
            r"|menerima)) (?:[a-z]+ )?(?:dokumen|teks|file|berkas|lampiran|gambar|artikel)|\b(?:silakan",
            r"|mohon|bisakah anda|tolong) (?:[a-z]+ )?(?:lampirkan|tempelkan|kirimkan|kirim|unggah|bagikan",
            r"|melampirkan|mengirim|mengirimkan) (?:[a-z]+ )?(?:dokumen|teks|file|berkas|lampiran|gambar",
            r"|artikel)",
        ),
    ),
];

pub(crate) static VIETNAMESE: Pack = Pack {
    language: Language::Vietnamese,
    cue: Pattern::new("không|xin lỗi|rất tiếc|từ chối|vi phạm|trái với|chưa|vui lòng", &[]),
    rules: &[&VIETNAMESE_RULES],
};

static VIETNAMESE_WORDS: [Word; 1] = [(
    "act",
    concat!(
        "(?:giúp|cung cấp|tạo|trả lời|hỗ trợ|xử lý|viết|dịch|tóm tắt|giải thích|chia sẻ|thực hiện",
        "|đáp ứng|tiếp tục|thảo luận|tham gia|đưa ra|tiết lộ|mô tả|soạn|làm điều)",
    ),
)];

static VIETNAMESE_RULES: [Rule; 5] = [
    Rule::new(
        "vi/inability",
        Decline,
        Four,
        Opening(85, 70),
        &VIETNAMESE_WORDS,
        concat!(
            r"(?:tôi|mình|chúng tôi) (?:rất tiếc (?:là )?)?(?:không thể|không được phép|không có khả năng",
            r"|sẽ không|không có quyền|chưa thể|không muốn)[^.!?]{0,24}<act>|(?:^|[ ,])không thể (?:giúp",
            r"|hỗ trợ|đáp ứng|thực hiện) (?:bạn|yêu cầu)",
        ),
    ),
    Rule::new(
        "vi/decline",
        Decline,
        Four,
        Opening(85, 70),
        &VIETNAMESE_WORDS,
        r"tôi (?:xin |phải |buộc phải |xin phép )?từ chối",
    ),
    Rule::new(
        "vi/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &VIETNAMESE_WORDS,
        r"(?:vi phạm|trái với|đi ngược) (?:[^ .]+ )?(?:chính sách|nguyên tắc|quy định|hướng dẫn|điều khoản)",
    ),
    Rule::new(
        "vi/apology",
        Support,
        First,
        Flat(20),
        &VIETNAMESE_WORDS,
        concat!(
            r"^(?:xin lỗi,? (?:nhưng|tôi)|tôi xin lỗi,? (?:nhưng|tôi)|rất tiếc|tôi rất tiếc)",
            r"|là (?:một )?(?:mô hình ngôn ngữ|ai|trí tuệ nhân tạo)",
        ),
    ),
    Rule::new(
        "vi/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &VIETNAMESE_WORDS,
        concat!(
            r"(?:không thấy|chưa (?:thấy|nhận được)|không có|không tìm thấy)[^.]{0,14} (?:tài liệu|văn bản",
            r"|tệp|hình ảnh|bài viết|đính kèm)|(?:vui lòng|bạn có thể|hãy) (?:đính kèm|dán|gửi|tải lên",
            r"|cung cấp|chia sẻ)[^.]{0,10} (?:tài liệu|văn bản|tệp|hình ảnh|bài viết|nội dung)",
        ),
    ),
];
