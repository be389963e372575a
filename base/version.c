#include "base/version.h"

const char shootd_version[] = SHOOTD_VERSION;
const char shootd_revision[] = SHOOTD_REVISION;
