#pragma once

namespace vsim::gui {

/// Gives memory that was freed back to the system. Reading millions of slices frees buffers that the
/// allocator would keep: 25 MB of five million slices. Takes milliseconds; nothing where the C library has no
/// such call.
void giveBackMemory();

}  // namespace vsim::gui
