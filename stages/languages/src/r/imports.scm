(call function: (identifier) @_import
  (#any-of? @_import "library" "loadNamespace" "require" "requireNamespace" "source" "sys.source")) @import
(call function: (namespace_operator lhs: (identifier) @_package rhs: (identifier) @_import)
  (#eq? @_package "box")
  (#eq? @_import "use")) @import
