/*
 * The forms of instructions that the compiler translates: modifiers in their order, and numbers of operands.
 *
 * A form is a list of places: "?ftz" may be absent, "lo|hi" is one of two. An instruction that matches no form is an error: a
 * modifier without meaning here would make another kernel than its author wrote.
 */
#include "module.h"

#include <string.h>

#define S "s16|s32|s64"
#define W "u16|s16|u32|s32" /* what .wide doubles */
#define I "u16|u32|u64|" S
#define N "u8|s8|" I
#define C "u32|s32|u64|s64" /* with carries */
#define B "b16|b32|b64"
#define H "f16|f16x2"
#define BF "bf16|bf16x2"
#define V B "|" I "|f32|f64"
#define R "?rn|rz|rm|rp"
#define ROUND "rn|rz|rm|rp"
#define WHOLE "rni|rzi|rmi|rpi"
#define MORE "?and|or|xor"
#define LESS "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"
#define ORDER "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define LOADS "?global|shared|local|param|const|shared::cta|param::entry|param::func"
#define STORES "?global|shared|local|param|shared::cta|param::func"
#define EVICTION "?L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"
#define SECOND "?L2::evict_normal|L2::evict_first|L2::evict_last"
#define HINT "?L2::cache_hint"
#define AHEAD "?L2::64B|L2::128B|L2::256B"
#define VECTOR "?v2|v4|v8"
#define MEMORY "b8|u8|s8|f16|bf16|" V
#define SCOPE "cta|gpu|sys"
#define OF_BLOCK "?shared|shared::cta"
#define ORDERED "?relaxed|acquire|release|acq_rel ?cta|gpu|sys ?global|shared|shared::cta"
#define PLANES "1d|2d|3d|a1d|a2d"
#define TEXEL "v4 f32|s32|u32|f16"
#define PAIRS "u32|s32 u32|s32 u32|s32"
#define PIXEL "?ca|cg|cs|cv|wb|wt ?v2|v4 b8|b16|b32|b64"

static const struct ptx_form {
    const char *name;
    uint32_t least, most; /* operands */
    const char *places;
} forms[] = {
    /* integers and floats */
    {"add", 3, 3, I "|u16x2|s16x2"}, {"add", 3, 3, "sat s32"}, {"add", 3, 3, "cc " C}, {"add", 3, 3, R " ?ftz ?sat f32"},
    {"add", 3, 3, R " f64"}, {"add", 3, 3, "?rn ?ftz ?sat " H}, {"add", 3, 3, "?rn " BF},
    {"sub", 3, 3, I "|u16x2|s16x2"}, {"sub", 3, 3, "sat s32"}, {"sub", 3, 3, "cc " C}, {"sub", 3, 3, R " ?ftz ?sat f32"},
    {"sub", 3, 3, R " f64"}, {"sub", 3, 3, "?rn ?ftz ?sat " H}, {"sub", 3, 3, "?rn " BF},
    {"mul", 3, 3, "lo|hi " I}, {"mul", 3, 3, "wide " W}, {"mul", 3, 3, R " ?ftz ?sat f32"}, {"mul", 3, 3, R " f64"},
    {"mul", 3, 3, "?rn ?ftz ?sat " H}, {"mul", 3, 3, "?rn " BF},
    {"mad", 4, 4, "lo|hi " I}, {"mad", 4, 4, "wide " W}, {"mad", 4, 4, "hi sat s32"}, {"mad", 4, 4, "lo|hi cc " C},
    {"mad", 4, 4, R " ?ftz ?sat f32"}, {"mad", 4, 4, R " f64"},
    {"addc", 3, 3, "?cc " C}, {"subc", 3, 3, "?cc " C}, {"madc", 4, 4, "lo|hi ?cc " C},
    {"mul24", 3, 3, "lo|hi u32|s32"}, {"mad24", 4, 4, "lo|hi u32|s32"}, {"mad24", 4, 4, "hi sat s32"},
    {"sad", 4, 4, I}, {"rem", 3, 3, I}, {"dp4a", 4, 4, "u32|s32 u32|s32"}, {"dp2a", 4, 4, "lo|hi u32|s32 u32|s32"},
    {"div", 3, 3, I}, {"div", 3, 3, "approx|full|" ROUND " ?ftz f32"}, {"div", 3, 3, ROUND " f64"},
    {"abs", 2, 2, S "|f64|" BF}, {"abs", 2, 2, "?ftz f32|" H}, {"neg", 2, 2, S "|f64|" BF}, {"neg", 2, 2, "?ftz f32|" H},
    {"min", 3, 3, I "|f64|u16x2|s16x2"}, {"min", 3, 3, "s32|s16x2 relu"}, {"min", 3, 4, "?ftz ?NaN ?abs f32"},
    {"min", 3, 3, "?ftz ?NaN ?xorsign.abs f32|" H}, {"min", 3, 3, "?NaN ?xorsign.abs " BF},
    {"max", 3, 3, I "|f64|u16x2|s16x2"}, {"max", 3, 3, "s32|s16x2 relu"}, {"max", 3, 4, "?ftz ?NaN ?abs f32"},
    {"max", 3, 3, "?ftz ?NaN ?xorsign.abs f32|" H}, {"max", 3, 3, "?NaN ?xorsign.abs " BF},
    {"fma", 4, 4, ROUND " ?ftz ?sat f32"}, {"fma", 4, 4, ROUND " f64"}, {"fma", 4, 4, "rn ?ftz ?sat|relu " H}, {"fma", 4, 4, "rn ?relu " BF},
    {"rcp", 2, 2, "approx|" ROUND " ?ftz f32"}, {"rcp", 2, 2, ROUND " f64"}, {"rcp", 2, 2, "approx ftz f64"},
    {"sqrt", 2, 2, "approx|" ROUND " ?ftz f32"}, {"sqrt", 2, 2, ROUND " f64"},
    {"rsqrt", 2, 2, "approx ?ftz f32|f64"}, {"sin", 2, 2, "approx ?ftz f32"}, {"cos", 2, 2, "approx ?ftz f32"},
    {"lg2", 2, 2, "approx ?ftz f32"}, {"ex2", 2, 2, "approx ?ftz f32"}, {"ex2", 2, 2, "approx " H}, {"ex2", 2, 2, "approx ftz " BF},
    {"tanh", 2, 2, "approx f32|" H "|" BF},
    {"testp", 2, 2, "finite|infinite|number|notanumber|normal|subnormal f32|f64"}, {"copysign", 3, 3, "f32|f64"},
    /* bits */
    {"and", 3, 3, "pred|" B}, {"or", 3, 3, "pred|" B}, {"xor", 3, 3, "pred|" B}, {"not", 2, 2, "pred|" B}, {"cnot", 2, 2, B},
    {"shl", 3, 3, B}, {"shr", 3, 3, B "|" I}, {"shf", 4, 4, "l|r clamp|wrap b32"}, {"popc", 2, 2, "b32|b64"}, {"clz", 2, 2, "b32|b64"},
    {"brev", 2, 2, "b32|b64"}, {"bfind", 2, 2, "?shiftamt " C}, {"bfe", 4, 4, C}, {"bfi", 5, 5, "b32|b64"}, {"bmsk", 3, 3, "clamp|wrap b32"},
    {"szext", 3, 3, "clamp|wrap u32|s32"}, {"prmt", 4, 4, "b32 ?f4e|b4e|rc8|ecl|ecr|rc16"}, {"lop3", 5, 5, "b32"},
    {"fns", 4, 4, "b32"},
    /* bytes and halves */
    {"vadd2", 4, 4, PAIRS " ?sat|add"}, {"vadd4", 4, 4, PAIRS " ?sat|add"}, {"vsub2", 4, 4, PAIRS " ?sat|add"},
    {"vsub4", 4, 4, PAIRS " ?sat|add"}, {"vabsdiff2", 4, 4, PAIRS " ?sat|add"}, {"vabsdiff4", 4, 4, PAIRS " ?sat|add"},
    {"vmin2", 4, 4, PAIRS " ?sat|add"}, {"vmin4", 4, 4, PAIRS " ?sat|add"}, {"vmax2", 4, 4, PAIRS " ?sat|add"},
    {"vmax4", 4, 4, PAIRS " ?sat|add"}, {"vavrg2", 4, 4, PAIRS " ?sat|add"}, {"vavrg4", 4, 4, PAIRS " ?sat|add"},
    /* moves, comparisons, conversions */
    {"mov", 2, 2, "pred|" V}, {"cvta", 2, 2, "?to global|shared|local|const|param|shared::cta|param::entry u64"},
    {"isspacep", 2, 2, "global|shared|local|const|param|shared::cta|shared::cluster|param::entry"},
    {"setp", 3, 4, LESS " " MORE " " B "|" I}, {"setp", 3, 4, ORDER " " MORE " ?ftz f32|" H}, {"setp", 3, 4, ORDER " " MORE " f64|" BF},
    {"set", 3, 4, LESS " " MORE " u32|s32|f32|f16|bf16 " B "|" I}, {"set", 3, 4, ORDER " " MORE " ?ftz u32|s32|f32 f32"},
    {"set", 3, 4, ORDER " " MORE " u32|s32|f32 f64"}, {"set", 3, 4, ORDER " " MORE " ?ftz f16|u16|s16|u32|s32 f16"},
    {"set", 3, 4, ORDER " " MORE " ?ftz f16x2|u16x2|s16x2|u32|s32 f16x2"}, {"set", 3, 4, ORDER " " MORE " bf16|u16|s16|u32|s32 bf16"},
    {"set", 3, 4, ORDER " " MORE " bf16x2|u16x2|s16x2|u32|s32 bf16x2"},
    {"selp", 4, 4, V}, {"slct", 4, 4, V " s32"}, {"slct", 4, 4, "?ftz " V " f32"},
    {"cvt", 2, 2, "?sat " N " " N}, {"cvt", 2, 2, WHOLE " ?ftz ?sat " N " f16|f32|bf16"}, {"cvt", 2, 2, WHOLE " ?sat " N " f64"},
    {"cvt", 2, 2, ROUND " ?ftz ?sat f16|f32 " N}, {"cvt", 2, 2, ROUND " ?sat f64|bf16 " N},
    {"cvt", 2, 2, "?" WHOLE " ?ftz ?sat f32 f32"}, {"cvt", 2, 2, "?" WHOLE " ?sat f64 f64"}, {"cvt", 2, 2, "?" WHOLE " ?ftz ?sat f16 f16"},
    {"cvt", 2, 2, "?" WHOLE " bf16 bf16"},
    {"cvt", 2, 2, "?ftz ?sat f32 f16|bf16"}, {"cvt", 2, 2, "?ftz ?sat f64 f32"}, {"cvt", 2, 2, "?sat f64 f16|bf16"},
    {"cvt", 2, 2, ROUND " ?ftz ?sat f32 f64"}, {"cvt", 2, 2, ROUND " ?ftz ?sat f16 f32"}, {"cvt", 2, 2, ROUND " ?sat f16 f64|bf16"},
    {"cvt", 2, 2, "rn|rz ?relu f16|bf16 f32"}, {"cvt", 2, 2, "rm|rp bf16 f32"}, {"cvt", 2, 2, "rn|rz bf16 f64|f16"}, {"cvt", 3, 3, "rn|rz ?relu f16x2|bf16x2 f32"},
    {"cvt", 2, 2, "rna tf32 f32"}, {"cvt", 3, 3, "rn satfinite ?relu e4m3x2|e5m2x2 f32"},
    {"cvt", 2, 2, "rn satfinite ?relu e4m3x2|e5m2x2 f16x2"}, {"cvt", 2, 2, "rn ?relu f16x2 e4m3x2|e5m2x2"},
    /* memory */
    {"ld", 2, 3, "?weak " LOADS " ?ca|cg|cs|lu|cv ?nc " EVICTION " " SECOND " " HINT " " AHEAD " " VECTOR " " MEMORY},
    {"ld", 2, 2, "volatile " LOADS " " AHEAD " " VECTOR " " MEMORY},
    {"ld", 2, 3, "relaxed|acquire " SCOPE " " LOADS " " EVICTION " " SECOND " " HINT " " AHEAD " " VECTOR " " MEMORY},
    {"ld", 2, 2, "mmio relaxed sys ?global " MEMORY}, {"ldu", 2, 2, "?global " VECTOR " " MEMORY},
    {"st", 2, 3, "?weak " STORES " ?wb|cg|cs|wt " EVICTION " " SECOND " " HINT " " VECTOR " " MEMORY},
    {"st", 2, 2, "volatile " STORES " " VECTOR " " MEMORY},
    {"st", 2, 3, "relaxed|release " SCOPE " " STORES " " EVICTION " " SECOND " " HINT " " VECTOR " " MEMORY},
    {"st", 2, 2, "mmio relaxed sys ?global " MEMORY},
    {"prefetch", 1, 1, "?global|local L1|L2"}, {"prefetch", 1, 1, "global L2::evict_last|L2::evict_normal"}, {"prefetchu", 1, 1, "L1"},
    {"discard", 2, 2, "?global L2"}, {"applypriority", 2, 2, "?global L2::evict_normal"},
    {"cp", 3, 4, "async ca|cg shared|shared::cta global " HINT " " AHEAD}, {"cp", 0, 0, "async commit_group|wait_all"},
    {"cp", 1, 1, "async wait_group"}, {"cp", 4, 4, "async bulk shared::cta global mbarrier::complete_tx::bytes"}, {"cp", 3, 3, "async bulk global shared::cta bulk_group"},
    {"cp", 0, 0, "async bulk commit_group"}, {"cp", 1, 1, "async bulk wait_group ?read"}, {"cp", 1, 1, "async mbarrier arrive ?noinc " OF_BLOCK " b64"},
    {"atom", 3, 4, ORDERED " and|or|xor|exch " HINT " b32|b64"}, {"atom", 4, 4, ORDERED " cas b16|b32|b64"},
    {"atom", 3, 4, ORDERED " add " HINT " u32|s32|u64|f32|f64"}, {"atom", 3, 4, ORDERED " inc|dec " HINT " u32"},
    {"atom", 3, 4, ORDERED " min|max " HINT " " C}, {"atom", 3, 4, ORDERED " add noftz " HINT " " H "|" BF},
    {"atom", 3, 4, ORDERED " add " HINT " v2|v4 f32"}, {"atom", 3, 4, ORDERED " add|min|max noftz " HINT " v2|v4|v8 " H "|" BF},
    {"red", 2, 3, ORDERED " and|or|xor " HINT " b32|b64"}, {"red", 2, 3, ORDERED " add " HINT " u32|s32|u64|f32|f64"},
    {"red", 2, 3, ORDERED " inc|dec " HINT " u32"}, {"red", 2, 3, ORDERED " min|max " HINT " " C},
    {"red", 2, 3, ORDERED " add noftz " HINT " " H "|" BF}, {"red", 2, 3, ORDERED " add " HINT " v2|v4 f32"},
    {"red", 2, 3, ORDERED " add|min|max noftz " HINT " v2|v4|v8 " H "|" BF},
    /* warps and blocks */
    {"shfl", 5, 5, "sync up|down|bfly|idx b32"}, {"shfl", 4, 4, "up|down|bfly|idx b32"}, {"vote", 3, 3, "sync all|any|uni pred"},
    {"vote", 3, 3, "sync ballot b32"}, {"vote", 2, 2, "all|any|uni pred"}, {"vote", 2, 2, "ballot b32"}, {"activemask", 1, 1, "b32"},
    {"elect", 2, 2, "sync"}, {"match", 3, 3, "any|all sync b32|b64"}, {"redux", 3, 3, "sync add|min|max u32|s32"},
    {"redux", 3, 3, "sync and|or|xor b32"}, {"bar", 1, 2, "?cta sync"}, {"bar", 3, 4, "?cta red popc u32"}, {"bar", 3, 4, "?cta red and|or pred"},
    {"bar", 2, 2, "?cta arrive"},
    {"bar", 1, 1, "warp sync"}, {"barrier", 1, 2, "?cta sync ?aligned"}, {"barrier", 3, 4, "?cta red popc ?aligned u32"},
    {"barrier", 2, 2, "?cta arrive ?aligned"},
    {"barrier", 3, 4, "?cta red and|or ?aligned pred"}, {"membar", 0, 0, "cta|gl|sys"}, {"fence", 0, 0, "?sc|acq_rel|acquire|release " SCOPE "|cluster"},
    {"fence", 0, 0, "proxy alias|async.global|async.shared::cta|async"}, {"fence", 0, 0, "mbarrier_init release cluster"},
    {"mbarrier", 2, 2, "init " OF_BLOCK " b64"}, {"mbarrier", 1, 1, "inval " OF_BLOCK " b64"}, {"mbarrier", 2, 2, "pending_count b64"},
    {"mbarrier", 2, 3, "arrive|arrive_drop ?release|relaxed ?cta|cluster " OF_BLOCK " b64"},
    {"mbarrier", 3, 3, "arrive|arrive_drop noComplete ?release|relaxed ?cta|cluster " OF_BLOCK " b64"},
    {"mbarrier", 3, 3, "arrive expect_tx ?release|relaxed ?cta|cluster " OF_BLOCK " b64"},
    {"mbarrier", 2, 2, "expect_tx|complete_tx ?relaxed ?cta|cluster " OF_BLOCK " b64"},
    {"mbarrier", 3, 3, "test_wait ?parity ?acquire|relaxed ?cta|cluster " OF_BLOCK " b64"},
    {"mbarrier", 3, 4, "try_wait ?parity ?acquire|relaxed ?cta|cluster " OF_BLOCK " b64"},
    /* images */
    {"tex", 2, 2, PLANES "|cube " TEXEL " f32"}, {"tex", 2, 2, PLANES " " TEXEL " s32"}, {"tex", 3, 3, "level " PLANES "|cube " TEXEL " f32"},
    {"tex", 4, 4, "grad " PLANES " " TEXEL " f32"}, {"tld4", 2, 2, "r|g|b|a 2d " TEXEL " f32"},
    {"txq", 2, 2, "width|height|depth|array_size|num_mipmap_levels b32"}, {"txq", 3, 3, "level width|height|depth b32"},
    {"suq", 2, 2, "width|height|depth|array_size b32"}, {"suld", 2, 2, "b " PLANES " " PIXEL " trap|zero"},
    {"sust", 2, 2, "b " PLANES " " PIXEL " trap|zero"},
    /* control */
    {"bra", 1, 1, "?uni"}, {"brx", 2, 2, "idx ?uni"}, {"call", 1, 4, "?uni"}, {"ret", 0, 0, "?uni"}, {"exit", 0, 0, ""}, {"trap", 0, 0, ""},
    {"brkpt", 0, 0, ""}, {"nanosleep", 1, 1, "u32"}, {"pmevent", 1, 1, "?mask"}, {"griddepcontrol", 0, 0, "launch_dependents|wait"}};

/* Whether a place "lo|hi" names a modifier, or "xorsign.abs" two; how many of the instruction's it takes, or 0. */
static uint32_t takes(const char *place, size_t length, const struct ptx_instruction *i, uint32_t at)
{
    for (const char *word = place, *end = place + length; word < end;) {
        size_t size = 0;
        while (word + size < end && word[size] != '|')
            size++;
        const char *dot = memchr(word, '.', size);
        const size_t first = dot != NULL ? (size_t)(dot - word) : size;
        const bool one = at < i->modifier_count && strlen(i->modifiers[at]) == first && memcmp(i->modifiers[at], word, first) == 0;
        if (one && dot == NULL)
            return 1;
        if (one && at + 1 < i->modifier_count && strlen(i->modifiers[at + 1]) == size - first - 1 &&
            memcmp(i->modifiers[at + 1], dot + 1, size - first - 1) == 0)
            return 2;
        word += size + 1;
    }
    return 0;
}

/* How many modifiers fit a form; is_whole: no place is empty that must not be. */
static uint32_t fit(const struct ptx_form *form, const struct ptx_instruction *i, bool *is_whole)
{
    uint32_t at = 0;
    *is_whole = true;
    for (const char *place = form->places; *place != '\0';) {
        const bool optional = *place == '?';
        place += optional;
        const size_t length = strcspn(place, " ");
        const uint32_t count = takes(place, length, i, at);
        if (count == 0 && !optional) {
            *is_whole = false;
            return at;
        }
        at += count;
        place += length + (place[length] == ' ');
    }
    return at;
}

/* The place of a modifier of an atomic instruction: order, scope and space first, then the others. */
static size_t rank_of(const char *modifier)
{
    static const char *const first[] = {"relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys", "global", "shared", "shared::cta"};
    size_t rank = 0;
    while (rank < sizeof first / sizeof *first && strcmp(modifier, first[rank]) != 0)
        rank++;
    return rank;
}

/* Sorts the modifiers: compilers also write order, scope and space behind the operation or each other. */
static struct ptx_instruction sort_atomic(const struct ptx_instruction *i)
{
    struct ptx_instruction sorted = *i;
    for (uint32_t m = 1; m < i->modifier_count; m++)
        for (uint32_t k = m; k > 0 && rank_of(sorted.modifiers[k - 1]) > rank_of(sorted.modifiers[k]); k--) {
            const char *const modifier = sorted.modifiers[k];
            sorted.modifiers[k] = sorted.modifiers[k - 1];
            sorted.modifiers[k - 1] = modifier;
        }
    return sorted;
}

void ptx_check_form(struct ptx_build *build, const struct ptx_instruction *instruction)
{
    struct ptx_instruction sorted;
    const struct ptx_instruction *i = instruction;
    if (strcmp(i->name, "atom") == 0 || strcmp(i->name, "red") == 0) {
        sorted = sort_atomic(i);
        i = &sorted;
    }
    uint32_t furthest = 0;
    bool is_known = false, is_wrong_count = false;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        if (strcmp(forms[k].name, i->name) != 0)
            continue;
        bool is_whole;
        const uint32_t at = fit(&forms[k], i, &is_whole);
        is_known = true;
        furthest = at > furthest ? at : furthest;
        if (!is_whole || at < i->modifier_count)
            continue;
        if (i->operand_count >= forms[k].least && i->operand_count <= forms[k].most)
            return;
        is_wrong_count = true;
    }
    char text[96];
    ptx_describe(instruction, text, sizeof text);
    if (!is_known)
        ptx_fail(build, i->line, "instruction '%s': it is not supported", text);
    if (is_wrong_count)
        ptx_fail(build, i->line, "instruction '%s': %u operands are not supported", text, i->operand_count);
    if (furthest < i->modifier_count)
        ptx_fail(build, i->line, "instruction '%s': the modifier '.%.40s' is not supported there", text, i->modifiers[furthest]);
    ptx_fail(build, i->line, "instruction '%s': a modifier is missing", text);
}
