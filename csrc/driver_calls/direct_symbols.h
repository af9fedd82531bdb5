/* For drivers whose library exports all functions: a function is available if it was found. */
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
