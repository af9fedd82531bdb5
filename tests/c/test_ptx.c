/* The PTX compiler: tables of a module, errors with their lines, limits of memory. */
#include "check.h"

#include "ptx.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static struct bindless_ptx_module compile(const char *text)
{
    struct bindless_ptx_module module;
    if (!bindless_ptx_compile(text, strlen(text), NULL, &module))
        check_failed(__FILE__, __LINE__, text, module.log);
    return module;
}

/* The text is refused with an error about a line, which names something. */
static void refuses(const char *text, unsigned line, const char *what)
{
    struct bindless_ptx_module module;
    char place[32];
    if (bindless_ptx_compile(text, strlen(text), NULL, &module))
        check_failed(__FILE__, __LINE__, text, "is not refused");
    snprintf(place, sizeof place, "line %u: ", line);
    if (strstr(module.log, place) == NULL || strstr(module.log, what) == NULL)
        check_failed(__FILE__, __LINE__, what, module.log);
    CHECK(module.words == NULL && module.entry_count == 0);
    bindless_ptx_destroy(&module);
}

/* malloc adds a heap of the size that is asked for, once for all texts, and no other names that others see. */
static void test_heap(void)
{
    static const char one[] = HEAD ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.visible .entry k() {\n"
                                   ".param .b64 n; .param .b64 r; st.param.b64 [n], 8; call (r), malloc, (n); ret; }\n";
    static const char two[] = HEAD ".extern .func free(.param .b64 p);\n.visible .entry l() {\n"
                                   ".param .b64 p; st.param.b64 [p], 0; call free, (p); ret; }\n.section .debug_str\n{\n.b8 1\n}\n";
    const char *const texts[2] = {one, two};
    const size_t sizes[2] = {sizeof one - 1, sizeof two - 1};
    struct bindless_ptx_options options = {.heap_bytes = 1000};
    struct bindless_ptx_module module;
    CHECK(bindless_ptx_link(texts, sizes, 2, &options, &module));
    CHECK_EQUAL(2, module.entry_count);
    CHECK_EQUAL(0, module.function_count);
    CHECK(module.globals_bytes >= 1008 && module.globals_bytes < 4096);
    bindless_ptx_destroy(&module);
    options = (struct bindless_ptx_options){.heap_bytes = (uint64_t)1 << 40};
    CHECK(!bindless_ptx_link(texts, sizes, 2, &options, &module));
    bindless_ptx_destroy(&module);
}

static void test_tables(void)
{
    struct bindless_ptx_module module = compile(
        HEAD ".const .align 16 .b8 table[12] = {1,2,3};\n.visible .global .align 8 .u64 pointer = generic(table)+4;\n"
             ".extern .shared .align 16 .b8 dynamic[];\n.visible .func (.param .b32 r) helper(.param .b32 a)\n{ ret; }\n"
             ".visible .entry one(.param .u32 a, .param .align 8 .b8 s[24], .param .u64 .ptr .global .align 4 p)\n"
             ".maxntid 256, 2\n{\n.shared .align 4 .b8 own[100];\n.local .align 16 .b8 depot[40];\n.reg .b32 %r<2>;\n"
             "mov.u32 %r1, own;\nst.shared.u32 [dynamic+4], %r1;\nret;\n}\n.entry two() .reqntid 64 { ret; }\n");
    CHECK_EQUAL(80, module.isa);
    CHECK_EQUAL(80, module.target);
    CHECK_EQUAL(2, module.entry_count);
    const struct bindless_ptx_entry *one = &module.entries[0], *two = &module.entries[1];
    CHECK(strcmp(one->name, "one") == 0 && strcmp(two->name, "two") == 0);
    CHECK_EQUAL(3, one->parameter_count);
    CHECK_EQUAL(40, one->parameter_bytes);
    CHECK_EQUAL(8, one->parameters[1].offset);
    CHECK_EQUAL(24, one->parameters[1].size);
    CHECK(one->parameters[1].is_array && one->parameters[2].is_pointer);
    CHECK_EQUAL(100, one->shared_bytes);
    CHECK(one->uses_dynamic_shared && !two->uses_dynamic_shared);
    CHECK_EQUAL(40, one->local_bytes);
    CHECK_EQUAL(256, one->maxntid[0]);
    CHECK_EQUAL(2, one->maxntid[1]);
    CHECK_EQUAL(64, two->reqntid[0]);
    CHECK_EQUAL(2, module.global_count);
    CHECK(module.globals[0].is_const && !module.globals[1].is_const);
    CHECK_EQUAL(16, module.globals[1].offset);
    CHECK_EQUAL(3, module.globals_image[2]);
    CHECK_EQUAL(1, module.relocation_count);
    CHECK_EQUAL(16, module.relocations[0].offset);
    CHECK_EQUAL(4, module.relocations[0].addend);
    CHECK_EQUAL(1, module.function_count);
    bindless_ptx_destroy(&module);
}

static void test_refused(void)
{
    refuses("", 1, ".version");
    refuses("\x7f" "ELF", 1, "");
    refuses(HEAD ".entry k() {\n add.u32 %r1, 1, 2;\n}", 5, "%r1");
    refuses(HEAD ".entry k() {\n.reg .b32 %r<4>;\n wgmma.fence.sync.aligned;\n}", 6, "wgmma.fence.sync.aligned");
    refuses(HEAD ".entry k() {\n.reg .b32 %r<4>;\n\n mapa.u32 %r1, %r2, 1;\n}", 7, "mapa.u32");
    refuses(HEAD ".entry k() {\n.reg .b32 %r<9>;\n mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1},{%r1},{%r1},{%r1};\n}", 6, "mma.sync");
    refuses(HEAD ".entry k() {\n bra NOWHERE;\n}", 5, "NOWHERE");
    refuses(HEAD ".entry k() {\n barrier.cluster.arrive;\n}", 5, "barrier.cluster.arrive");
    refuses(HEAD ".entry k() {\n.reg .b32 %r<2>;\n.reg .b32 %r<2>;\n}", 6, "twice");
    refuses(HEAD ".extern .func missing();\n.entry k() {\n call missing;\n}", 6, "missing");
    refuses(HEAD ".global .b8 x[2] = {1,2,3};", 4, "x");
    refuses(HEAD ".entry k() { ret;", 4, "");
    refuses(HEAD ".entry k() .reqnctapercluster 2 { ret; }", 4, "cluster");
    refuses(".version 8.0\n.target sm_80\n.address_size 32\n", 3, "64");
    refuses(HEAD ".entry k(.param .b8 x[2000000000]) { ret; }", 4, "GiB");
    refuses(HEAD "/* no end", 4, "");
}

static void test_limits(void)
{
    const char *text = HEAD ".entry k() { ret; }";
    const struct bindless_ptx_options small = {.memory_limit = 4096}, old = {.target = 75};
    struct bindless_ptx_module module;
    CHECK(!bindless_ptx_compile(text, strlen(text), &small, &module));
    CHECK(strstr(module.log, "MiB") != NULL);
    bindless_ptx_destroy(&module);
    CHECK(!bindless_ptx_compile(text, strlen(text), &old, &module));
    CHECK(strstr(module.log, "sm_80") != NULL);
    bindless_ptx_destroy(&module);
}

/* A text that calls what others define, and one with an error. */
static void test_reading(void)
{
    const char *good = HEAD ".extern .func f();\n.entry k() {\ncall f;\nret;\n}", *bad = HEAD ".entry k() {\n syntax error;\n}";
    const struct bindless_ptx_options options = {.only_reads = true};
    struct bindless_ptx_module module;
    CHECK(bindless_ptx_compile(good, strlen(good), &options, &module));
    CHECK(module.words == NULL && module.entry_count == 0);
    bindless_ptx_destroy(&module);
    CHECK(!bindless_ptx_compile(bad, strlen(bad), &options, &module));
    CHECK(strstr(module.log, "line 5") != NULL);
    bindless_ptx_destroy(&module);
}

static void test_link(void)
{
    const char *texts[2] = {HEAD ".extern .func f();\n.extern .global .u32 x;\n.visible .entry k() {\n.reg .b32 %r<2>;\n"
                                 "ld.global.u32 %r1, [x];\ncall f;\nret;\n}",
                            HEAD ".visible .func f() { ret; }\n.visible .global .u32 x = 5;\n"};
    const size_t sizes[2] = {strlen(texts[0]), strlen(texts[1])};
    struct bindless_ptx_module module;
    CHECK(bindless_ptx_link(texts, sizes, 2, NULL, &module));
    CHECK_EQUAL(1, module.global_count);
    bindless_ptx_destroy(&module);
    CHECK(!bindless_ptx_link(texts, sizes, 1, NULL, &module));
    CHECK(strstr(module.log, "'x'") != NULL);
    bindless_ptx_destroy(&module);
    const char *twice[2] = {texts[1], texts[1]};
    const size_t same[2] = {sizes[1], sizes[1]};
    CHECK(!bindless_ptx_link(twice, same, 2, NULL, &module));
    CHECK(strstr(module.log, "text 2, line 4") != NULL);
    bindless_ptx_destroy(&module);
}

int main(void)
{
    test_tables();
    test_heap();
    test_refused();
    test_limits();
    test_reading();
    test_link();
    return 0;
}
