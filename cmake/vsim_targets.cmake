# One interface target carries the warnings; every vsim target links it.
add_library(vsim_flags INTERFACE)
target_include_directories(vsim_flags INTERFACE ${CMAKE_SOURCE_DIR})
# g++ 12 reports -Wrestrict falsely for "text" + std::string at -O2 and above (GCC bug 105651).
target_compile_options(vsim_flags INTERFACE -Wall -Wextra -Wconversion $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<BOOL:${VSIM_WERROR}>:-Werror>)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# vsim_library(NAME [DEPENDS target...]): all .cpp files of the current folder as one static library.
# The folder core/base becomes the target core_base.
function(vsim_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC vsim_flags ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE vsim_flags ${ARG_DEPENDS})
  endif()
endfunction()
