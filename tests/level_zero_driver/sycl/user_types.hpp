// Pixels of two and four channels that are structs, and no vectors of SYCL.
#pragma once

template <typename T> struct pixel2 {
    T first, second;
    pixel2 plus(pixel2 other) const { return {T(first + other.first), T(second + other.second)}; }
};

template <typename T> struct pixel4 {
    pixel2<T> left, right;
    pixel4 plus(pixel4 other) const { return {left.plus(other.left), right.plus(other.right)}; }
};
