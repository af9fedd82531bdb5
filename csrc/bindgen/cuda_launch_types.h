typedef struct bindless_launch {
    CUcontext context;
    CUfunction function;
    unsigned int grid[3];
    unsigned int block[3];
    unsigned int shared;
    CUstream stream;
    void **parameters;
} bindless_launch_t;
