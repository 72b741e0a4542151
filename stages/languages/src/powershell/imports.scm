(command command_name: (command_name) @_import
  (#any-of? @_import "Import-Module" "Using" "import-module" "ipmo" "using")) @import
; . ./file.ps1
(command (command_invokation_operator) @_dot command_name: (_) (#eq? @_dot ".")) @import
