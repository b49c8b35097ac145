//! Indonesian.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Two};
use crate::refusal::rule::Signal::{Benign, Decline, Deflect, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static INDONESIAN: Pack = Pack {
    language: Language::Indonesian,
    cue: Pattern::new(
        concat!(
            "tidak|maaf|menolak|sayangnya|melanggar|bertentangan|belum|silakan|mohon|tanpa|topik|hal lain",
            "|hanya|ditolak|diblokir|di luar|melampaui|melebihi|tak |bukan|enggan|keberatan|berhenti",
            "|yang lain|khusus|dilewati|dihentikan|jawaban|terbatas|konten|sebaiknya|lebih baik|terpaksa",
            "|harus|dihilangkan|dibatasi",
        ),
        &[],
    ),
    rules: &[&INDONESIAN_RULES],
};

static INDONESIAN_WORDS: [Word; 4] = [
    (
        "act",
        concat!(
            "(?:membantu|memberikan|memberi|membuat|menjawab|menyediakan|memproses|menulis|menghasilkan",
            "|menerjemahkan|merangkum|meringkas|menjelaskan|membagikan|melanjutkan|melakukan|memenuhi",
            "|mendukung|membahas|mengungkapkan|berpartisipasi|menyusun|mengerjakan|menuliskan|menanggapi",
            "|merespons|mengutip|menyalin|membacakan|menilai|menyebutkan|menyebut|mengatakan|menceritakan",
            "|mengidentifikasi|mengenali|mendaftar|mendaftarkan|memilih|memutuskan|mengomentari",
            "|berkomentar|menafsirkan|menganalisis|mendengarkan|menampilkan|menerbitkan|menyebarkan",
            "|mendiagnosis|meresepkan|menghitung|menebak|memprediksi|memerankan|meniru|menulis ulang",
            "|mengarang|merancang|mengembangkan|menggambar|berbicara|membicarakan|mendiskusikan|terlibat",
            "|ikut|berpihak|memandu|membimbing|mengajarkan|menyarankan|merekomendasikan|menyampaikan",
            "|menguraikan|memaparkan|mengungkap|mentranskripsikan|mentranskrip|mengekstrak|menyiapkan",
            "|membocorkan|menyerahkan|meneruskan|menyelesaikan|memberitahu|memberi tahu|bekerja sama",
            "|menyetujui|menuruti|menyajikan|mengabulkan|berperan|memuat|mencantumkan|memfasilitasi",
            "|beropini|berpendapat|menyusunkan|menerima permintaan|melayani|mencari)",
        ),
    ),
    (
        "thing",
        concat!(
            "(?:permintaan|jawaban|respons|konten|ringkasan|terjemahan|teks|dokumen|masukan|keluaran",
            "|pertanyaan|isi|berkas|gambar|hasil|deskripsi|daftar|langkah|prompt|pesan)",
        ),
    ),
    (
        "refused",
        concat!(
            "(?:ditolak|diblokir|ditahan|disaring|dihentikan|dilewati|dibatasi|dihilangkan",
            "|tidak (?:dapat |bisa |akan )?(?:diproses|dipenuhi|dibuat|dihasilkan|ditampilkan|dijawab",
            "|diberikan|diterjemahkan|diringkas|disediakan|dilanjutkan|dimuat))",
        ),
    ),
    (
        "reason",
        concat!(
            "(?:kebijakan|pedoman|aturan|keamanan|privasi|pribadi|hak cipta|sensitif|berbahaya|dilarang",
            "|terlarang|ilegal|kekerasan|rahasia|kebencian|melanggar|pelanggaran|ketentuan|tidak pantas",
            "|moderasi|menghormati|filter)",
        ),
    ),
];

static INDONESIAN_RULES: [Rule; 11] = [
    Rule::new(
        "id/not-inability",
        Benign,
        Four,
        Flat(0),
        &INDONESIAN_WORDS,
        concat!(
            r"\btidak (?:bisa|dapat|akan) (?:hadir|datang|ikut rapat|menunggu|percaya|lupa|menemukan",
            r"|menyerah)\b",
        ),
    ),
    Rule::new(
        "id/inability",
        Decline,
        Four,
        Opening(85, 70),
        &INDONESIAN_WORDS,
        concat!(
            r"\b(?:saya|kami|aku) (?:juga |mohon maaf,? |minta maaf,? (?:tetapi ",
            "|tapi )?(?:saya )?)?(?:tidak|tak|belum) (?:dapat|bisa|mampu|akan|boleh|ingin|berani|hendak",
            "|berniat|pantas|berhak|layak|diizinkan(?: untuk)?|diperbolehkan(?: untuk)?",
            r"|berwenang(?: untuk)?|mau|bersedia)(?: [a-z]+){0,4} <act>|\bmaaf,? (?:tetapi |tapi ",
            r"|namun )?(?:saya )?(?:tidak|tak) (?:dapat|bisa)(?: [a-z]+){0,3} <act>|\b(?:saya",
            r"|aku) (?:tidak|tak|enggan|keberatan)(?: untuk)? <act>|\b(?:bukan|tidak) (?:tempat|tugas",
            r"|peran|wewenang|kewenangan|hak|kapasitas) saya\b|\bsaya bukan (?:pihak|orang) yang\b",
            r"|\bbukan (?:sesuatu|hal) yang (?:bisa |dapat |akan |mau )?saya\b|\bsaya tidak (?:punya",
            r"|memiliki|mempunyai) (?:[a-z]+ )?(?:wewenang|izin|kemampuan|kewenangan|cara|hak)\b",
            r"|\btidak (?:mungkin|pantas|tepat|layak) (?:bagi|untuk) saya\b|\b[a-z]+ itu tidak (?:akan",
            r"|bisa|dapat) saya [a-z]+|\btidak (?:akan|bisa|dapat|mau) saya [a-z]+",
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
            r"|lebih suka) (?:untuk )?tidak\b|\bsaya (?:harus |terpaksa |perlu ",
            "|mesti )?(?:mengatakan tidak|berhenti di sini|menahan diri|undur diri|mengundurkan diri",
            r"|abstain)\b|\bsaya (?:lebih baik|sebaiknya|memutuskan|lebih memilih) (?:untuk )?tidak\b",
            r"|\bjawaban(?:nya| saya) (?:tetap |masih )?tidak\b|\bmohon maaf,? (?:saya )?menolak\b",
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
            r"|ketentuan)\b|\bpermintaan (?:ini|anda|tersebut) tidak dapat (?:diproses|dipenuhi)",
            "|^konten (?:yang )?(?:tidak diizinkan|terlarang|dilarang|tidak pantas)",
        ),
    ),
    Rule::new(
        "id/apology",
        Support,
        First,
        Flat(20),
        &INDONESIAN_WORDS,
        concat!(
            "^(?:maaf,? (?:tetapi|tapi|saya|namun)|mohon maaf,? (?:saya|tetapi|namun)|sayangnya)",
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
            "|mohon|bisakah anda|tolong) (?:[a-z]+ )?(?:lampirkan|tempelkan|kirimkan|kirim|unggah|bagikan",
            "|melampirkan|mengirim|mengirimkan) (?:[a-z]+ )?(?:dokumen|teks|file|berkas|lampiran|gambar",
            r"|artikel)|\btidak (?:bisa|dapat) (?:membuka|mengakses) (?:[a-z]+ )?(?:tautan|berkas|lampiran",
            r"|url|link)\b",
        ),
    ),
    Rule::new(
        "id/beyond-my-scope",
        Obstacle,
        Four,
        Flat(55),
        &INDONESIAN_WORDS,
        r"\b(?:di luar|melampaui|melebihi) (?:[a-z]+ ){0,2}(?:saya|yang (?:boleh|bisa|dapat) saya)\b",
    ),
    Rule::new(
        "id/refused-by-machine",
        Obstacle,
        Four,
        Flat(60),
        &INDONESIAN_WORDS,
        concat!(
            "<thing>[^.!?]* <refused>[^.!?]*(?:[.] ?[^.!?]*)?<reason>|<reason>[^.!?]*(?:<thing>|nama|data",
            r"|bagian)[^.!?]* <refused>|\btidak ada (?:jawaban|ringkasan|terjemahan|respons|keluaran",
            "|deskripsi|konten)[^.!?]{0,12} (?:dibuat|dihasilkan|diberikan|disediakan)",
            r"|\b<thing> (?:diblokir|ditolak) (?:oleh|:)|<thing>[^.!?]*<reason>[^.!?]* ?<refused>",
        ),
    ),
    Rule::new(
        "id/assistant-does-not",
        Decline,
        Four,
        Flat(60),
        &INDONESIAN_WORDS,
        concat!(
            r"\b(?:asisten|chatbot|bot)(?: [a-z]+)? (?:ini|kami)\b[^.!?]*\b(?:tidak|hanya|khusus",
            r"|menolak)\b|\b[a-z]{2,16}bot (?:tidak|hanya) (?:menjawab|melayani|memberikan|membahas",
            "|menangani)",
        ),
    ),
    Rule::new(
        "id/no-live-data",
        Decline,
        Four,
        Flat(55),
        &INDONESIAN_WORDS,
        concat!(
            r"\b(?:saya )?(?:tidak|tak|belum) (?:memiliki|punya|mempunyai|terhubung|tersambung|ada",
            "|bisa mengakses|dapat mengakses)[^.!?]{0,30}(?:akses|real-time|waktu nyata|terkini|langsung",
            r"|internet|terbaru|terhubung)|\b(?:terkini|real-time|terbaru",
            "|langsung)[^.!?]{0,30}tidak (?:tersedia|saya miliki|saya ketahui)",
            r"|\bpengetahuan saya[^.!?]{0,24}(?:berhenti|terbatas|hanya sampai|berakhir)",
        ),
    ),
    Rule::new(
        "id/other-topic",
        Deflect,
        Two,
        Flat(30),
        &INDONESIAN_WORDS,
        concat!(
            r"\b(?:mari|bagaimana kalau|ayo|lebih baik|sebaiknya|bolehkah)[^.!?]*(?:topik lain|hal lain",
            r"|yang lain|topik)\b|\bganti topik\b",
        ),
    ),
];
