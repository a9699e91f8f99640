# Coverage and sanitizers make every file slow to compile, so the fuzz build compiles many together and leaves out what no target of
# tests/fuzz reads with: fits, NCCL, processes. Who links something that is left out is told by the linker.
function(ringside_fuzz_without module pattern)
  get_target_property(sources ringside_${module} SOURCES)
  list(FILTER sources INCLUDE REGEX "${pattern}")
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/${module}/)
  set_source_files_properties(${sources} TARGET_DIRECTORY ringside_${module} PROPERTIES HEADER_FILE_ONLY ON)
endfunction()
ringside_fuzz_without(analysis "^check/")
if(RINGSIDE_HAS_LAB)
  ringside_fuzz_without(lab "^(charts|commands|evaluation|nccl|studies)/")
endif()
set(unread "backend/(nccl|gloo)/" ".*/registration" "backend/(backends|gpus)" "launch/(external/|process|thread|rank_[cpw])" "probe/probe[.]"
           "measure/(measure|rank_tuning|recording)[.]" "system/memory_check")
list(JOIN unread "|" unread)
ringside_fuzz_without(real "^(${unread})")

# Left out are sources whose names in unnamed namespaces meet.
foreach(module real sim)
  ringside_compiles_together(ringside_${module})
endforeach()
set_source_files_properties(sim/sharing/max_min_solver.cpp sim/engine/replay.cpp TARGET_DIRECTORY ringside_real ringside_sim
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
