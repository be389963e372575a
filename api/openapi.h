/* openapi.yaml as part of the program; made by tools/embed_openapi.py. Constant, any thread. */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include <stddef.h>

extern const unsigned char openapi_yaml[];
extern const size_t openapi_yaml_len;
extern const unsigned char openapi_json[];
extern const size_t openapi_json_len;

#endif
