// Virtual functions on the device: objects that one kernel creates, and whose functions others call.
// functions FOLDER compiles the kernels of FOLDER and prints what passes; the exit code is 0 if all is as expected.
#include "program.hpp"

static float expected_area(size_t i, float by)
{
    const float a = float(i);
    if (i % 3 == 0)
        return (a + by) * (a + by);
    if (i % 3 == 1)
        return (a + by) * 2;
    return a * by + expected_area(i - 1, by);
}

int main(int, char **arguments)
{
    Run run(arguments[1], "function_kernels.cpp");
    const size_t count = 96;
    const float by = 3;
    Shared objects(run, count * 32), areas(run, std::vector<float>(count));
    run.check("virtual functions", "of objects of three classes", [&] {
        run.launch("create", count, objects.get());
        run.launch("grow", count, objects.get(), by);
        run.launch("measure", count, objects.get(), areas.get());
        bool all = true;
        for (size_t i = 0; i < count; i++)
            all &= static_cast<float *>(areas.get())[i] == expected_area(i, by);
        return all;
    });
    return run.report();
}
