//! Vietnamese.

use crate::refusal::Language;
use crate::refusal::pattern::{Pattern, Word};
use crate::refusal::rule::Scope::{First, Four, Two};
use crate::refusal::rule::Signal::{Benign, Decline, Deflect, NeedsInput, Obstacle, Support};
use crate::refusal::rule::Weight::{Flat, Opening};
use crate::refusal::rule::{Pack, Rule};

pub(crate) static VIETNAMESE: Pack = Pack {
    language: Language::Vietnamese,
    cue: Pattern::new(
        concat!(
            "không|xin lỗi|rất tiếc|từ chối|vi phạm|trái với|chưa|vui lòng|chủ đề|chuyện khác|đề tài",
            "|điều khác|bị chặn|bị từ|chỉ |ngoài|vượt|kiếu|khước|dừng|giới hạn|bị |lược bỏ|câu trả lời",
            "|chẳng",
        ),
        &[],
    ),
    rules: &[&VIETNAMESE_RULES],
};

static VIETNAMESE_WORDS: [Word; 4] = [
    (
        "act",
        concat!(
            "(?:giúp|cung cấp|tạo|trả lời|hỗ trợ|xử lý|viết|dịch|tóm tắt|giải thích|chia sẻ|thực hiện",
            "|đáp ứng|tiếp tục|thảo luận|tham gia|đưa ra|tiết lộ|mô tả|soạn|làm điều|ghi lại|chép",
            "|sao chép|trích dẫn|đọc|đánh giá|phán xét|nói|kể|nêu|nhận diện|nhận dạng|xác định|liệt kê",
            "|chọn|quyết định|bình luận|nhận xét|diễn giải|phân tích|nghe|hiển thị|đăng|phát tán",
            "|chẩn đoán|kê đơn|kê|tính|đoán|dự đoán|đóng vai|nhập vai|bắt chước|viết lại|bịa|thiết kế",
            "|phát triển|vẽ|bàn|nói về|hướng dẫn|chỉ dẫn|chỉ cho|dạy|khuyên|tư vấn|gợi ý|đề xuất",
            "|giới thiệu|chép lại|trích xuất|trích|lập|chuẩn bị|để lộ|hợp tác|tiếp tay|dính|can thiệp",
            "|đứng về|hoàn thành|làm việc|làm theo|làm chuyện|làm vậy|làm|đảm nhận|nhận yêu cầu|phục vụ",
            "|cho biết|cho ý kiến|phát biểu|đồng ý|soạn|truyền đạt|gửi|bày tỏ|ủng hộ)",
        ),
    ),
    (
        "thing",
        concat!(
            "(?:yêu cầu|câu trả lời|phản hồi|nội dung|bản tóm tắt|tóm tắt|bản dịch|văn bản|tài liệu",
            "|đầu vào|đầu ra|câu hỏi|tệp|hình ảnh|kết quả|mô tả|danh sách|các bước|tin nhắn)",
        ),
    ),
    (
        "refused",
        concat!(
            "(?:bị từ chối|đã từ chối|bị chặn|bị giữ lại|bị lọc|bị dừng|bị bỏ qua|bị hạn chế|được lược bỏ",
            "|không (?:thể |được )?(?:được )?(?:xử lý|đáp ứng|tạo|tạo ra|hiển thị|trả lời|cung cấp|dịch",
            "|tóm tắt|thực hiện|đưa ra))",
        ),
    ),
    (
        "reason",
        concat!(
            "(?:chính sách|quy định|nguyên tắc|an toàn|quyền riêng tư|riêng tư|cá nhân|bản quyền|nhạy cảm",
            "|nguy hiểm|độc hại|gây hại|cấm|bất hợp pháp|phi pháp|bạo lực|bảo mật|thù ghét|vi phạm",
            "|điều khoản|không phù hợp|kiểm duyệt|tôn trọng|bộ lọc)",
        ),
    ),
];

static VIETNAMESE_RULES: [Rule; 11] = [
    Rule::new(
        "vi/not-inability",
        Benign,
        Four,
        Flat(0),
        &VIETNAMESE_WORDS,
        "không (?:thể|tham gia được) (?:đến|dự|tin|chờ|có mặt|tham dự|quên)|không thể tin",
    ),
    Rule::new(
        "vi/inability",
        Decline,
        Four,
        Opening(85, 70),
        &VIETNAMESE_WORDS,
        concat!(
            "(?:tôi|mình|chúng tôi) (?:rất tiếc (?:là )?)?(?:[^ .,]+ )?(?:không thể|không được phép",
            "|không có khả năng|sẽ không|không có quyền|chưa thể|không muốn|không dám|không tiện",
            "|không nên|không đủ|không sẵn lòng|không sẵn sàng|không định|không nhận|không thấy thoải mái",
            "|khó có thể|đành không)[^.!?]{0,30}<act>|(?:^|[ ,])không thể (?:giúp|hỗ trợ|đáp ứng",
            "|thực hiện) (?:bạn|yêu cầu)|(?:tôi|mình) (?:xin phép )?không (?:cung cấp|viết|tạo|trả lời",
            "|hỗ trợ|dịch|tóm tắt|chia sẻ|thảo luận|bàn|đưa ra|tiết lộ|mô tả|soạn|bình luận|đánh giá",
            "|tư vấn|liệt kê|làm|tham gia|hướng dẫn|giúp|kê|ghi lại|chép|tiếp tục|đóng vai|nêu|vẽ)",
            "|(?:không phải|chẳng phải) (?:việc|vai trò|chỗ|phận sự|điều) (?:của )?(?:tôi|mình)",
            "|không (?:đến lượt|tới lượt) tôi|(?:tôi|mình) không (?:phải là người|có thẩm quyền",
            "|được trao quyền|đủ tư cách)|không phải là (?:điều|việc|thứ) (?:mà )?tôi",
        ),
    ),
    Rule::new(
        "vi/decline",
        Decline,
        Four,
        Opening(85, 70),
        &VIETNAMESE_WORDS,
        concat!(
            "tôi (?:xin |phải |buộc phải |xin phép )?từ chối|(?:tôi|mình) (?:xin |phải |buộc phải ",
            "|xin phép |đành |sẽ )(?:được )?(?:từ chối|khước từ|dừng (?:lại )?ở đây|nói không|kiếu|miễn",
            "|không (?:làm|trả lời|viết))|(?:tôi|mình) (?:chọn|muốn|thà|xin phép) không",
            "|câu trả lời (?:vẫn )?là không",
        ),
    ),
    Rule::new(
        "vi/policy",
        Obstacle,
        Four,
        Opening(70, 60),
        &VIETNAMESE_WORDS,
        concat!(
            "(?:vi phạm|trái với|đi ngược) (?:[^ .]+ )?(?:chính sách|nguyên tắc|quy định|hướng dẫn",
            "|điều khoản)|^nội dung (?:không được phép|bị cấm|không phù hợp)",
        ),
    ),
    Rule::new(
        "vi/apology",
        Support,
        First,
        Flat(20),
        &VIETNAMESE_WORDS,
        concat!(
            "^(?:xin lỗi,? (?:nhưng|tôi)|tôi xin lỗi,? (?:nhưng|tôi)|rất tiếc|tôi rất tiếc)",
            "|là (?:một )?(?:mô hình ngôn ngữ|ai|trí tuệ nhân tạo)",
        ),
    ),
    Rule::new(
        "vi/input-missing",
        NeedsInput,
        Four,
        Flat(60),
        &VIETNAMESE_WORDS,
        concat!(
            "(?:không thấy|chưa (?:thấy|nhận được)|không có|không tìm thấy)[^.]{0,14} (?:tài liệu|văn bản",
            "|tệp|hình ảnh|bài viết|đính kèm)|(?:vui lòng|bạn có thể|hãy) (?:đính kèm|dán|gửi|tải lên",
            "|cung cấp|chia sẻ)[^.]{0,10} (?:tài liệu|văn bản|tệp|hình ảnh|bài viết|nội dung)",
            "|không (?:thể )?(?:mở|truy cập)(?: được)? (?:[^ .]+ )?(?:liên kết|đường dẫn|tệp)",
        ),
    ),
    Rule::new(
        "vi/beyond-my-scope",
        Obstacle,
        Four,
        Flat(55),
        &VIETNAMESE_WORDS,
        concat!(
            "(?:ngoài|vượt quá|vượt ngoài|nằm ngoài) (?:phạm vi|khả năng|quyền hạn|thẩm quyền|giới hạn",
            "|những gì)[^.!?]{0,20}(?:tôi|mình)",
        ),
    ),
    Rule::new(
        "vi/refused-by-machine",
        Obstacle,
        Four,
        Flat(60),
        &VIETNAMESE_WORDS,
        concat!(
            "<thing>[^.!?]* <refused>[^.!?]*(?:[.] ?[^.!?]*)?<reason>|<reason>[^.!?]*(?:<thing>|tên",
            "|dữ liệu|phần)[^.!?]* <refused>|không (?:có )?(?:câu trả lời|bản tóm tắt|bản dịch|phản hồi",
            "|kết quả|nội dung) nào (?:được|đã được) (?:tạo|đưa|cung)|<thing> bị (?:chặn|từ chối) (?:bởi",
            "|:)|<thing>[^.!?]*<reason>[^.!?]* ?<refused>",
        ),
    ),
    Rule::new(
        "vi/assistant-does-not",
        Decline,
        Four,
        Flat(60),
        &VIETNAMESE_WORDS,
        "(?:trợ lý|chatbot|bot)(?: [^ .]+){0,2} (?:này|chúng tôi)[^.!?]*(?:không|chỉ|từ chối)",
    ),
    Rule::new(
        "vi/no-live-data",
        Decline,
        Four,
        Flat(55),
        &VIETNAMESE_WORDS,
        concat!(
            "(?:tôi|mình) (?:[^ .]+ )?(?:không|chưa) (?:có|được|thể)[^.!?]{0,30}(?:truy cập",
            "|thời gian thực|trực tiếp|internet|cập nhật|kết nối|mới nhất)|(?:kiến thức|dữ liệu",
            "|thông tin) của tôi[^.!?]{0,24}(?:dừng|chỉ đến|giới hạn|kết thúc)",
        ),
    ),
    Rule::new(
        "vi/other-topic",
        Deflect,
        Two,
        Flat(30),
        &VIETNAMESE_WORDS,
        concat!(
            "(?:hãy|chúng ta|mình|hay là|ta)[^.!?]{0,30}(?:chuyện khác|chủ đề khác|đề tài khác|điều khác",
            "|đổi chủ đề)",
        ),
    ),
];
