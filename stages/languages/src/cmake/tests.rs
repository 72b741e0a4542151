//! Tests for the outline of `sample.cmake`.

use super::CMAKE;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&CMAKE, include_str!("sample.cmake")), @r#"
    import GNUInstallDirs *
    import Threads *
    import src *
    function add_module 13-24 function(add_module name) | Adds a module with its tests. | set message return _check_source add_library | 2 branches | 1 loops | exported
    function _check_source 27-31 macro(_check_source path) | Fails if a file is missing. | message | 1 loops
    block tool 34-34 add_executable(tool main.cpp) | The program. | add_executable | exported
    block docs 35-35 ADD_CUSTOM_TARGET("docs" COMMAND doxygen) |  | ADD_CUSTOM_TARGET | exported
    constants: DEFAULT_STANDARD WITH_TESTS
    calls outside symbols: include find_package add_subdirectory set option
    doc: Rules for the modules of the project.
    "#);
}
