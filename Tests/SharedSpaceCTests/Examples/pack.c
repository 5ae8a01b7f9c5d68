/* Between JSON and the bytes of tuples. */
#include "check.h"

int main(void) {
    sharedspace_result packed = sharedspace_no_result();
    sharedspace_result text = sharedspace_no_result();
    DONE(sharedspace_pack(sharedspace_text("[\"job\", 42, null, -1.5, true, [1, {\"a\": 2}]]"), 0, &packed, &error));
    static const uint8_t head[] = {0x02, 'j', 'o', 'b', 0x00, 0x15, 42, 0x00};
    CHECK(packed.flags == 0 && packed.count > sizeof head && memcmp(packed.bytes, head, sizeof head) == 0);
    sharedspace_bytes bytes = {packed.bytes, packed.count};
    DONE(sharedspace_unpack(bytes, packed.flags, &text, &error));
    CHECK(is(&text, "[\"job\",42,null,-1.5,true,[1,{\"a\":2}]]"));

    DONE(sharedspace_pack(sharedspace_text("{\"kind\": \"resize\"}"), 0, &packed, &error));
    CHECK(packed.flags == SHAREDSPACE_RECORD && packed.bytes[0] == 0x40);
    bytes = (sharedspace_bytes){packed.bytes, packed.count};
    DONE(sharedspace_unpack(bytes, packed.flags, &text, &error));
    CHECK(is(&text, "{\"kind\":\"resize\"}"));

    DONE(sharedspace_pack(sharedspace_text("7"), SHAREDSPACE_VALUE, &packed, &error));
    CHECK(packed.count == 2 && packed.bytes[1] == 7);
    FAILS(sharedspace_pack(sharedspace_text("[1, 2"), 0, &packed, &error), "badData");
    FAILS(sharedspace_pack(sharedspace_text("[1] [2]"), 0, &packed, &error), "badData");
    FAILS(sharedspace_unpack((sharedspace_bytes){(const uint8_t *)"\x02" "a", 2}, 0, &text, &error), "badData");
    FAILS(sharedspace_unpack((sharedspace_bytes){NULL, 7}, 0, &text, &error), "invalidArgument");
    sharedspace_result_free(&packed);
    sharedspace_result_free(&text);
    return 0;
}
