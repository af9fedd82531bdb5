// Bindless images in SYCL on this package's Level Zero driver: every form of access for every texel type and one, two
// and four channels, against values computed on the host. Usage: images FOLDER, where image_kernels.cpp is.
#include "program.hpp"
#include "sampling.hpp"
#include "user_types.hpp"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

using Mode = sycl::addressing_mode;
using Norm = sycl::coordinate_normalization_mode;
using Filter = sycl::filtering_mode;

static const unsigned channel_counts[] = {1, 2, 4};
static const sx::bindless_image_sampler plain_sampler(Mode::clamp_to_edge, Norm::unnormalized, Filter::nearest);

static std::string kernel_name(const std::string &form, const Shape &shape, const Format &format, unsigned channels)
{
    return form + shape.name() + "_" + format.tag + std::to_string(channels);
}

// Calls a function for each format and number of channels.
static void each_format(const std::function<void(const Format &, unsigned)> &use)
{
    for (auto &format : formats)
        for (unsigned channels : channel_counts)
            use(format, channels);
}

static Bytes sums(const Format &format, const Bytes &a, const Bytes &b)
{
    Bytes out(a.size());
    for (size_t i = 0; i < a.size(); i += format.size)
        format.put(&out[i], format.value(&a[i]) + format.value(&b[i]));
    return out;
}

static void reads_and_writes(Run &run)
{
    for (auto &shape : {lines, planes, volumes, arrays_of_lines, arrays_of_planes})
        each_format([&](const Format &format, unsigned channels) {
            const std::string name = kernel_name("add_", shape, format, channels);
            run.check("unsampled read and write", name, [&] {
                auto desc = shape.describe(channels, format.type);
                const Bytes a = run.pixels(format, shape.count() * channels), b = run.pixels(format, shape.count() * channels);
                Image first(run, desc, a), second(run, desc, b), out(run, desc);
                run.launch(name, shape.count(), first.handle(), second.handle(), out.handle(), int(shape.w), int(shape.h));
                return out.read(a.size()) == sums(format, a, b);
            });
        });
}

static void fetches(Run &run)
{
    for (auto &shape : {lines, planes, volumes, arrays_of_lines, arrays_of_planes})
        each_format([&](const Format &format, unsigned channels) {
            auto desc = shape.describe(channels, format.type);
            const Bytes pixels = run.pixels(format, shape.count() * channels);
            auto fetch = [&](const std::string &form, auto handle) {
                Shared out(run, pixels.size());
                run.launch(kernel_name(form, shape, format, channels), shape.count(), handle, out.get(), int(shape.w), int(shape.h));
                return out.bytes() == pixels;
            };
            const std::string name = kernel_name("", shape, format, channels);
            if (!shape.layers)
                run.check("fetch, unsampled", name, [&] {
                    Image image(run, desc, pixels);
                    return fetch("fetch_", image.handle());
                });
            for (auto filter : {Filter::nearest, Filter::linear})
                run.check(filter == Filter::nearest ? "fetch, sampled" : "fetch, linear sampler", name, [&] {
                    Image image(run, desc, pixels);
                    return fetch("fetch_sampled_", image.sample({Mode::clamp_to_edge, Norm::normalized, filter}));
                });
        });
}

static bool sample_equals(Run &run, const Shape &shape, const Format &format, unsigned channels, Image &image,
                          const Bytes &pixels, const sx::bindless_image_sampler &sampler)
{
    static std::mt19937 generator{2};
    const size_t count = 64;
    const bool linear = sampler.filtering == Filter::linear;
    std::vector<float> at = positions(shape, count, sampler.addressing[0] == Mode::none, generator), told = at;
    const float extents[3] = {float(shape.w), float(shape.h), float(shape.d)};
    if (sampler.coordinate == Norm::normalized)
        for (size_t i = 0; i < told.size(); i++)
            told[i] /= extents[i % shape.dimensions];
    Shared where(run, told), out(run, count * channels * format.size);
    run.launch(kernel_name("sample_", shape, format, channels), count, image.sample(sampler), (const float *)where.get(), out.get());
    const Bytes values = out.bytes();
    for (size_t i = 0; i < count * channels; i++) {
        const double expected = sample(format, shape, channels, pixels, i % channels, &at[i / channels * shape.dimensions],
                                       sampler.addressing, linear);
        const double tolerance = format.real && linear ? (format.size == 2 ? 0.05 : 1e-5) : 0;
        if (!(std::abs(format.value(&values[i * format.size]) - expected) <= tolerance))
            return false;
    }
    return true;
}

static void samples(Run &run)
{
    for (auto &shape : {lines, planes, volumes})
        each_format([&](const Format &format, unsigned channels) {
            const Bytes pixels = run.pixels(format, shape.count() * channels);
            Image image(run, shape.describe(channels, format.type), pixels);
            for (auto filter : {Filter::nearest, Filter::linear})
                for (auto norm : {Norm::unnormalized, Norm::normalized})
                    for (auto mode : {Mode::clamp_to_edge, Mode::clamp, Mode::none, Mode::repeat, Mode::mirrored_repeat}) {
                        if (norm == Norm::unnormalized && (mode == Mode::repeat || mode == Mode::mirrored_repeat))
                            continue; // undefined
                        const std::string name = kernel_name("", shape, format, channels) + " " + name_of(mode);
                        run.check(filter == Filter::linear ? "sampling, linear" : "sampling, nearest", name, [&] {
                            return sample_equals(run, shape, format, channels, image, pixels, {mode, norm, filter});
                        });
                    }
        });
}

static void copies(Run &run)
{
    for (auto &shape : {lines, planes, volumes})
        each_format([&](const Format &format, unsigned channels) {
            run.check("copies of images and regions", kernel_name("", shape, format, channels), [&] {
                auto desc = shape.describe(channels, format.type);
                const size_t pixel = format.size * channels;
                const Bytes all = run.pixels(format, shape.count() * channels), part = run.pixels(format, shape.count() * channels);
                Image from(run, desc, all), to(run, desc, part);
                const size_t h = shape.dimensions > 1 ? 2 : 1, d = shape.dimensions > 2 ? 2 : 1;
                const sycl::range<3> source{2, h - 1, 0}, target{3, h - 1, d - 1}, extent{4, h, d};
                run.queue.ext_oneapi_copy(from.memory_of().get_handle(), source, desc, to.memory_of().get_handle(), target, desc, extent);
                run.queue.wait_and_throw();
                Bytes expected = part;
                for (size_t z = 0; z < d; z++)
                    for (size_t y = 0; y < h; y++)
                        std::memcpy(&expected[(((target[2] + z) * shape.h + target[1] + y) * shape.w + target[0]) * pixel],
                                    &all[(((source[2] + z) * shape.h + source[1] + y) * shape.w + source[0]) * pixel], extent[0] * pixel);
                return to.read(part.size()) == expected;
            });
        });
}

// Memory of the caller as an image: with the pitch that the runtime chooses, and with that of the device's alignment.
static void memory_as_images(Run &run)
{
    const sycl::device device = run.queue.get_device();
    const size_t align = device.get_info<sx::info::device::image_row_pitch_align>();
    run.check("queries of pitches", "alignment and limits", [&] {
        return align > 0 && (align & (align - 1)) == 0 &&
               device.get_info<sx::info::device::max_image_linear_row_pitch>() >= align &&
               device.get_info<sx::info::device::max_image_linear_width>() > 0 &&
               device.get_info<sx::info::device::max_image_linear_height>() > 0;
    });
    each_format([&](const Format &format, unsigned channels) {
        auto desc = planes.describe(channels, format.type);
        const size_t row = planes.w * channels * format.size;
        const Bytes pixels = run.pixels(format, planes.count() * channels);
        auto fetch = [&](void *memory, size_t pitch) {
            Shared out(run, pixels.size());
            for (size_t y = 0; y < planes.h; y++)
                run.queue.memcpy(static_cast<char *>(memory) + y * pitch, &pixels[y * row], row);
            auto handle = sx::create_image(memory, pitch, plain_sampler, desc, run.queue);
            run.launch(kernel_name("fetch_sampled_", planes, format, channels), planes.count(), handle, out.get(), int(planes.w), int(planes.h));
            sx::destroy_image_handle(handle, run.queue);
            sycl::free(memory, run.queue);
            return out.bytes() == pixels;
        };
        const std::string name = kernel_name("", planes, format, channels);
        run.check("memory as images, pitched", name, [&] {
            size_t pitch = 0;
            void *memory = sx::pitched_alloc_device(&pitch, desc, run.queue);
            return fetch(memory, pitch);
        });
        run.check("memory as images, aligned", name, [&] {
            const size_t pitch = (row + align - 1) / align * align;
            return fetch(sycl::aligned_alloc_device(align, pitch * planes.h, run.queue), pitch);
        });
    });
}

template <typename T> static void user_types(Run &run, const Format &format)
{
    for (unsigned channels : {2u, 4u})
        run.check("pixels as structs of the user", kernel_name("", planes, format, channels), [&] {
            auto desc = planes.describe(channels, format.type);
            const Bytes pixels = run.pixels(format, planes.count() * channels);
            std::vector<float> centres;
            for (size_t i = 0; i < planes.count(); i++)
                centres.insert(centres.end(), {float(i % planes.w) + 0.5f, float(i / planes.w) + 0.5f});
            Image image(run, desc, pixels), out(run, desc);
            Shared where(run, centres);
            run.launch("user_" + std::string(format.tag) + std::to_string(channels), planes.count(), image.handle(),
                       image.sample({Mode::clamp_to_edge, Norm::unnormalized, Filter::linear}), out.handle(),
                       (const float *)where.get(), int(planes.w), int(planes.h));
            return out.read(pixels.size()) == sums(format, pixels, pixels);
        });
}

// Memory and semaphores of other programs: files in memory, and event counters of the system.
static void external(Run &run)
{
    for (auto &shape : {lines, planes, volumes})
        each_format([&](const Format &format, unsigned channels) {
            const Bytes pixels = run.pixels(format, shape.count() * channels);
            auto import = [&](bool sampled) {
                auto desc = shape.describe(channels, format.type);
                const int file = memfd_create("pixels", 0);
                if (file < 0 || write(file, pixels.data(), pixels.size()) != (ssize_t)pixels.size())
                    return false;
                auto memory = sx::import_external_memory(
                    sx::external_mem_descriptor<sx::resource_fd>{{file}, sx::external_mem_handle_type::opaque_fd, pixels.size()}, run.queue);
                auto mapped = sx::map_external_image_memory(memory, desc, run.queue);
                Shared out(run, pixels.size());
                auto fetch = [&](const std::string &form, auto handle) {
                    run.launch(kernel_name(form, shape, format, channels), shape.count(), handle, out.get(), int(shape.w), int(shape.h));
                    sx::destroy_image_handle(handle, run.queue);
                };
                if (sampled)
                    fetch("fetch_sampled_", sx::create_image(mapped, plain_sampler, desc, run.queue));
                else
                    fetch("fetch_", sx::create_image(mapped, desc, run.queue));
                sx::unmap_external_image_memory(mapped, desc.type, run.queue);
                sx::release_external_memory(memory, run.queue);
                return out.bytes() == pixels;
            };
            const std::string name = kernel_name("", shape, format, channels);
            run.check("external memory, sampled", name, [&] { return import(true); });
            run.check("external memory, unsampled", name, [&] { return import(false); });
        });
    run.check("external semaphores", "signal and wait", [&] {
        const int counter = eventfd(0, 0);
        auto semaphore = sx::import_external_semaphore(
            sx::external_semaphore_descriptor<sx::resource_fd>{{counter}, sx::external_semaphore_handle_type::opaque_fd}, run.queue);
        run.queue.ext_oneapi_signal_external_semaphore(semaphore).wait_and_throw();
        run.queue.ext_oneapi_wait_external_semaphore(semaphore).wait_and_throw();
        sx::release_external_semaphore(semaphore, run.queue);
        return true;
    });
}

// Level Zero has no mipmaps, cubemaps or addressing modes of a dimension: the device must not offer them.
static void aspects(Run &run)
{
    const sycl::device device = run.queue.get_device();
    for (auto aspect : {sycl::aspect::ext_oneapi_mipmap, sycl::aspect::ext_oneapi_cubemap})
        run.check("aspects that Level Zero lacks", std::to_string(int(aspect)), [&] { return !device.has(aspect); });
}

int main(int, char **arguments)
{
    Run run(arguments[1], "image_kernels.cpp");
    reads_and_writes(run);
    fetches(run);
    samples(run);
    copies(run);
    memory_as_images(run);
    user_types<uint8_t>(run, formats[1]);
    user_types<uint16_t>(run, formats[3]);
    user_types<uint32_t>(run, formats[5]);
    user_types<sycl::half>(run, formats[6]);
    user_types<float>(run, formats[7]);
    external(run);
    aspects(run);
    return run.report();
}
