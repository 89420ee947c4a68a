# Helpers for the folders below tests/.
#
# add_component(NAME registry NEEDS skopeo docker-registry [ENVIRONMENT K=V ...] [LABEL component] [ALONE])
#   runs tests/component/NAME with pytest. With ALONE, no other test runs at the same time; tests with another label than component
#   always run alone, because they install whole clusters. A missing program is a failure if CI=true, otherwise a skip: CI must not
#   skip checks silently.
# add_fuzzer(NAME yaml SOURCES yaml.cpp LIBRARIES slipway_base)
#   with the preset "fuzz" a libFuzzer program; in other builds a program that replays tests/fuzz/NAME/corpus.

function(add_component)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ALONE" "NAME;TIMEOUT;LABEL" "NEEDS;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL component)
  endif()
  if(NOT arg_LABEL STREQUAL "component")
    set(arg_ALONE TRUE)
  endif()
  add_test(NAME ${arg_LABEL}.${arg_NAME}
    COMMAND ${CMAKE_SOURCE_DIR}/tests/component/run ${CMAKE_CURRENT_SOURCE_DIR}/${arg_NAME} ${arg_NEEDS})
  set_tests_properties(${arg_LABEL}.${arg_NAME} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT}
    SKIP_RETURN_CODE 77 RUN_SERIAL ${arg_ALONE}
    ENVIRONMENT "SLIPWAY_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};SLIPWAY_SOURCE=${CMAKE_SOURCE_DIR};SLIPWAY_BUILD=${CMAKE_SOURCE_DIR}/build;${arg_ENVIRONMENT}")
endfunction()

function(add_fuzzer)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;LIBRARIES")
  add_executable(fuzz_${arg_NAME} ${arg_SOURCES})
  target_link_libraries(fuzz_${arg_NAME} PRIVATE ${arg_LIBRARIES})
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers fuzz_${arg_NAME})
  if(SLIPWAY_FUZZ)
    target_compile_options(fuzz_${arg_NAME} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${arg_NAME} PRIVATE -fsanitize=fuzzer)
    set(only_replay -runs=0)
  else()
    target_sources(fuzz_${arg_NAME} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.cpp)
    set(only_replay)
  endif()
  add_test(NAME fuzz-corpus.${arg_NAME} COMMAND fuzz_${arg_NAME} ${only_replay} ${CMAKE_SOURCE_DIR}/tests/fuzz/${arg_NAME}/corpus)
  set_tests_properties(fuzz-corpus.${arg_NAME} PROPERTIES LABELS fuzz-corpus TIMEOUT 60)
endfunction()
