#include "gui/model/give_back_memory.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace vsim::gui {

void giveBackMemory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace vsim::gui
