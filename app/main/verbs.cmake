# The verbs that need no Qt, apart from main() so that tests call them.
add_library(telltale_verbs STATIC
    ${CMAKE_CURRENT_LIST_DIR}/args.cpp
    ${CMAKE_CURRENT_LIST_DIR}/log.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb.cpp
    ${CMAKE_CURRENT_LIST_DIR}/report.cpp
    ${CMAKE_CURRENT_LIST_DIR}/packedvalues.cpp
    ${CMAKE_CURRENT_LIST_DIR}/interruptible.cpp ${CMAKE_CURRENT_LIST_DIR}/interruptible.h
    ${CMAKE_CURRENT_LIST_DIR}/progressline.cpp ${CMAKE_CURRENT_LIST_DIR}/progressline.h
    ${CMAKE_CURRENT_LIST_DIR}/pythonexport.cpp ${CMAKE_CURRENT_LIST_DIR}/pythonexport.h
    ${CMAKE_CURRENT_LIST_DIR}/foreigntake.cpp ${CMAKE_CURRENT_LIST_DIR}/foreigntake.h
    ${CMAKE_CURRENT_LIST_DIR}/importer.cpp ${CMAKE_CURRENT_LIST_DIR}/importer.h
    ${CMAKE_CURRENT_LIST_DIR}/verb_import.cpp
    ${CMAKE_CURRENT_LIST_DIR}/terminalstream.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_compare.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_configcheck.cpp
    ${CMAKE_CURRENT_LIST_DIR}/steeringserver.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_confighistory.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_configpush.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_configshow.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_delete.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_export.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_incidents.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_inspect.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_log.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_move.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_note.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_repair.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_retain.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_runs.cpp
    ${CMAKE_CURRENT_LIST_DIR}/formatloss.cpp ${CMAKE_CURRENT_LIST_DIR}/formatloss.h
    ${CMAKE_CURRENT_LIST_DIR}/showmaps.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verb_show.cpp)
target_include_directories(telltale_verbs PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(telltale_verbs
    PUBLIC telltale_core telltale_store
    PRIVATE telltale_options telltale_analysis telltale_archive telltale_client telltale_config telltale_exchange telltale_ingest telltale_judge nlohmann_json::nlohmann_json fmt::fmt CLI11::CLI11 spdlog::spdlog)
# It hands millions of values to Python: the other verbs are compiled with few optimizations.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/packedvalues.cpp PROPERTIES
    COMPILE_OPTIONS $<$<CONFIG:Release>:-O3> SKIP_UNITY_BUILD_INCLUSION ON)
