/* For drivers whose library exports all functions: a function is available if it was found. */
#ifndef BINDLESS_DRIVER_CALLS_DIRECT_SYMBOLS_H
#define BINDLESS_DRIVER_CALLS_DIRECT_SYMBOLS_H

static int bindless_function_available(int index)
{
    return bindless_function_exported(index);
}

static int bindless_function_offered(int index, const void *owner)
{
    (void)owner;
    return bindless_function_exported(index);
}

#endif
