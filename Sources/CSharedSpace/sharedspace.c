#include "sharedspace.h"
