/* Pictures of an Image that come again: warp, remap, resize and sample with the same shapes and layouts of arrays, and
 * another matrix and other addresses. */

#ifndef BINDLESS_SUBMISSION_PICTURES_PICTURE_CALL_H
#define BINDLESS_SUBMISSION_PICTURES_PICTURE_CALL_H

#include "../image_call.h"

enum { MATRIX = 16, SPACE = 3 };

/* How the user's matrix becomes a map to texels: see Source.map_of in Python. */
typedef struct {
    int dims;
    bool scaled;
    double unit[SPACE], margin[SPACE];
} MapRule;

/* An entry of the map, and the argument that it is. */
typedef struct {
    int argument, entry;
} Entry;

/* Memory of the host that the device reaches, in the place of an array of the host; object: NULL without. */
typedef struct {
    PyObject *object, *owner;
    uint64_t address; /* for the device */
    void *host;
} Stage;

/* A prepared picture: its commands, and what each call writes into those of the layers. */
typedef struct {
    Row base;
    long method;
    PyObject *shape;   /* the caller's argument, of exact integers; or None */
    CallArray out, vectors;
    PyObject *out_kind;         /* of USM: the kind of its memory; or NULL */
    PyObject *maker, *library;  /* make the result of a call without `out`, and take it; True: the vectors' library; or NULL */
    int maps;                   /* matrices of a call, one or one for each layer; 0: the map is always `map` */
    MapRule rule;
    double map[MATRIX];
    bool affine;
    PyObject *steps;            /* a tuple of commands: (Prepared, its arguments, objects that the command keeps) */
    int first, pictures;        /* the commands before `first` make what the others read, each of which makes a layer */
    int values, coords;         /* the arguments that are addresses; coords: -1 without vectors */
    int packed;                 /* the argument that is the bytes of all entries; or -1: each entry is an argument */
    int entry_count;
    Entry entries[MATRIX];
    uint64_t alignment, vector_alignment; /* of the addresses for the device */
    uint64_t bytes, vector_bytes; /* bytes: of one layer of the result */
    PyObject *uploads;          /* its attribute `ready`: events that reads of the image wait for; None: Python makes what is read */
    PyObject *key, *record;     /* the image in the context's table */
    Stage staged_out, staged_vectors;
    bool busy;                  /* a command uses the staging memory */
} Picture;

/* The pictures of one image. */
typedef struct {
    PyObject_HEAD
    CallTable table;
    Kinds kinds;
    PyObject *commands; /* of the image's queue */
    PyObject *images;   /* the context's table of images */
    PyObject *report;   /* raises the error of a completed command */
    PyObject *convert;  /* makes a packed array of float64 of a matrix */
    char declined;
} PictureCalls;

/* A call, as its arguments are read. */
typedef struct {
    const PictureCalls *calls;
    long method;
    PyObject *matrix, *shape;
    Argument vectors, out;
    double (*maps)[MATRIX], one[1][MATRIX];
    int map_count;  /* 0: not read */
    bool declined;  /* a prepared picture fits but for its matrix */
} PictureCall;

/* picture_matrix.c: reads matrices as maps: OTHERWISE where Python must say what is wrong. is_affine: whether a map divides
 * by one. */
int read_maps(PyObject *matrix, const PictureCalls *calls, const MapRule *rule, int count, double (*maps)[MATRIX]);
bool is_affine(const double map[MATRIX]);

/* picture_call.c */
PyObject *prepare_picture(const PictureCalls *calls, PyObject *arguments); /* None where C code cannot repeat it */
int fits_picture(Row *row, void *call);
int submit_picture(const PictureCalls *calls, Picture *row, PictureCall *call, PyObject **result);
bool name_pictures(void);

extern PyObject *picture_type, *picture_calls_type;
extern PyType_Spec picture_spec, picture_calls_spec;

#endif
