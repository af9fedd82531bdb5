// What the SYCL programs of this folder share: the queue, kernels compiled while the program runs, formats, counts.
#pragma once

#include <sycl/detail/core.hpp>
#include <sycl/ext/oneapi/bindless_images.hpp>
#include <sycl/ext/oneapi/experimental/bindless_image_info.hpp>
#include <sycl/half_type.hpp>
#include <sycl/kernel_bundle.hpp>
#include <sycl/properties/all_properties.hpp>
#include <sycl/usm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace sx = sycl::ext::oneapi::experimental;
using Bytes = std::vector<unsigned char>;
using Channel = sycl::image_channel_type;

// A channel type: the kernels' name of its texels, and its values as numbers.
struct Format {
    const char *tag;
    Channel type;
    size_t size;
    bool is_signed, real;

    double value(const unsigned char *at) const
    {
        sycl::half half;
        float single;
        int64_t whole = 0;
        if (real && size == 2)
            return std::memcpy(&half, at, 2), double(float(half));
        if (real)
            return std::memcpy(&single, at, 4), double(single);
        std::memcpy(&whole, at, size); // little endian
        return double(is_signed && at[size - 1] >= 128 ? whole - (int64_t(1) << 8 * size) : whole);
    }

    void put(unsigned char *at, double value) const
    {
        sycl::half half(float(value * real));
        float single = float(value);
        int64_t whole = real ? 0 : int64_t(value);
        std::memcpy(at, real ? (size == 2 ? (void *)&half : &single) : (void *)&whole, size);
    }
};

inline const Format formats[] = {
    {"i8", Channel::signed_int8, 1, true, false},    {"u8", Channel::unsigned_int8, 1, false, false},
    {"i16", Channel::signed_int16, 2, true, false},  {"u16", Channel::unsigned_int16, 2, false, false},
    {"i32", Channel::signed_int32, 4, true, false},  {"u32", Channel::unsigned_int32, 4, false, false},
    {"f16", Channel::fp16, 2, true, true},           {"f32", Channel::fp32, 4, true, true},
};

// Extents of an image: of 1 to 3 dimensions, or of layers with 1 or 2.
struct Shape {
    unsigned dimensions, layers;
    size_t w, h, d;

    size_t count() const { return w * h * d * std::max(layers, 1u); }

    std::string name() const { return (layers ? "array_" : "") + std::to_string(dimensions) + "d"; }

    sx::image_descriptor describe(unsigned channels, Channel type) const
    {
        sycl::range<3> range{w, dimensions > 1 ? h : 0, dimensions > 2 ? d : 0};
        return {range, channels, type, layers ? sx::image_type::array : sx::image_type::standard, 1, std::max(layers, 1u)};
    }
};

inline const Shape lines{1, 0, 32, 1, 1}, planes{2, 0, 16, 8, 1}, volumes{3, 0, 8, 4, 4}, arrays_of_lines{1, 3, 16, 1, 1},
    arrays_of_planes{2, 3, 8, 4, 1};

// The run: what it uses, and how its configurations end.
class Run {
  public:
    sycl::queue queue{sycl::property::queue::in_order{}};

    Run(const char *folder, const char *kernels)
    {
        std::ostringstream source, types;
        source << std::ifstream(std::string(folder) + "/" + kernels).rdbuf();
        types << std::ifstream(std::string(folder) + "/user_types.hpp").rdbuf();
        auto text = sx::create_kernel_bundle_from_source(
            queue.get_context(), sx::source_language::sycl, source.str(),
            sx::properties{sx::include_files{"user_types.hpp", types.str()}});
        bundle.emplace(sx::build(text));
    }

    // Counts a configuration of a group; its first failure is printed.
    void check(const std::string &group, const std::string &name, const std::function<bool()> &holds)
    {
        Count &count = counts[group];
        std::string failure;
        try {
            if (!holds())
                failure = "other values than expected";
        } catch (sycl::exception &error) {
            failure = error.what();
        }
        count.all++;
        count.passed += failure.empty();
        if (!failure.empty() && count.all - count.passed <= 3)
            std::printf("%s, %s: %s\n", group.c_str(), name.c_str(), failure.c_str());
    }

    template <typename... A> void launch(const std::string &name, size_t count, A... arguments)
    {
        sycl::kernel kernel = bundle->ext_oneapi_get_kernel(name);
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(arguments...);
            handler.parallel_for(sycl::nd_range<1>(count, 1), kernel);
        });
        queue.wait_and_throw();
    }

    // Pixels of small numbers, whose sums all formats can store.
    Bytes pixels(const Format &format, size_t count)
    {
        Bytes bytes(count * format.size);
        for (size_t i = 0; i < count; i++)
            format.put(&bytes[i * format.size], double(generator() % 61) - (format.is_signed ? 30 : 0));
        return bytes;
    }

    // Prints a line for each group. The exit code: 0 if all is as expected.
    int report() const
    {
        bool all = true;
        for (auto &[group, count] : counts) {
            std::printf("%-40s %5u of %5u\n", group.c_str(), count.passed, count.all);
            all &= count.passed == count.all;
        }
        return all ? 0 : 1;
    }

  private:
    struct Count {
        unsigned passed, all;
    };
    std::map<std::string, Count> counts;
    std::optional<sycl::kernel_bundle<sycl::bundle_state::executable>> bundle;
    std::mt19937 generator{1};
};

// Memory of the device that the host reads.
class Shared {
  public:
    Shared(Run &run, size_t size) : queue(run.queue), address(sycl::malloc_shared<unsigned char>(size, queue)), size(size) {}
    Shared(Run &run, const std::vector<float> &numbers) : Shared(run, numbers.size() * sizeof(float))
    {
        std::memcpy(address, numbers.data(), size);
    }
    Shared(const Shared &) = delete;
    ~Shared() { sycl::free(address, queue); }
    void *get() const { return address; }
    Bytes bytes() const { return Bytes(address, address + size); }

  private:
    sycl::queue queue;
    unsigned char *address;
    size_t size;
};

// An image with its pixels and handles, freed at the end of its scope.
class Image {
  public:
    Image(Run &run, const sx::image_descriptor &desc, const Bytes &pixels = {})
        : queue(run.queue), desc(desc), memory(desc, queue), plain(sx::create_image(memory, desc, queue))
    {
        if (!pixels.empty())
            queue.ext_oneapi_copy(pixels.data(), memory.get_handle(), desc).wait_and_throw();
    }
    Image(const Image &) = delete;
    ~Image()
    {
        sx::destroy_image_handle(plain, queue);
        for (auto handle : sampled)
            sx::destroy_image_handle(handle, queue);
    }

    sx::sampled_image_handle sample(const sx::bindless_image_sampler &sampler)
    {
        sampled.push_back(sx::create_image(memory, sampler, desc, queue));
        return sampled.back();
    }

    Bytes read(size_t size)
    {
        Bytes bytes(size);
        queue.ext_oneapi_copy(memory.get_handle(), bytes.data(), desc).wait_and_throw();
        return bytes;
    }

    sx::unsampled_image_handle handle() const { return plain; }
    sx::image_mem &memory_of() { return memory; }

  private:
    sycl::queue queue;
    sx::image_descriptor desc;
    sx::image_mem memory;
    sx::unsampled_image_handle plain;
    std::vector<sx::sampled_image_handle> sampled;
};
