/*
 * For drivers whose functions are all exported by the library: a function is offered when it was found.
 */
#ifndef BINDLESS_PLAIN_FUNCTIONS_H
#define BINDLESS_PLAIN_FUNCTIONS_H

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
