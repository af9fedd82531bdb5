// Kernels that create objects with virtual functions, and that call the functions. The compiler puts virtual functions in
// an image of their own, with which Intel's runtime links the kernels.
#include <sycl/sycl.hpp>

namespace sx = sycl::ext::oneapi::experimental;

#define INDIRECT SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(sx::indirectly_callable)
#define KERNEL                                                                                                         \
    extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(sx::nd_range_kernel<1>)                                               \
        SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(sx::assume_indirect_calls) void

struct Shape {
    float a;
    explicit Shape(float a) : a(a) {}
    INDIRECT virtual float area() const { return a * a; }
    INDIRECT virtual void grow(float by) { a += by; }
};

struct Box : Shape {
    float b;
    Box(float a, float b) : Shape(a), b(b) {}
    INDIRECT float area() const override { return a * b; }
};

// Calls a virtual function of another object.
struct Sum : Shape {
    const Shape *other;
    Sum(float a, const Shape *other) : Shape(a), other(other) {}
    INDIRECT float area() const override { return a + other->area(); }
    INDIRECT void grow(float by) override { a *= by; }
};

struct alignas(Sum) Room {
    char bytes[sizeof(Sum)];
};

inline size_t item() { return sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0); }
inline Shape *shape(Room *rooms, size_t i) { return reinterpret_cast<Shape *>(&rooms[i]); }

KERNEL create(Room *rooms)
{
    const size_t i = item();
    const float a = i;
    if (i % 3 == 0)
        new (&rooms[i]) Shape(a);
    else if (i % 3 == 1)
        new (&rooms[i]) Box(a, 2);
    else
        new (&rooms[i]) Sum(a, shape(rooms, i - 1));
}

KERNEL grow(Room *rooms, float by) { shape(rooms, item())->grow(by); }

KERNEL measure(Room *rooms, float *areas) { areas[item()] = shape(rooms, item())->area(); }
