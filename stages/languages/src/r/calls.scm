(call function: [(identifier) @reference.call (namespace_operator rhs: (identifier) @reference.call)]
  (#not-any-of? @reference.call
    "R6Class" "c" "ggproto" "library" "list" "representation" "require" "requireNamespace" "return" "setClass"
    "setGeneric" "setMethod" "setRefClass" "setReplaceMethod" "setValidity" "signature" "source" "test_that"))
(call function: (extract_operator rhs: (identifier) @reference.call (#not-eq? @reference.call "methods")))
; Type$new()
(call function: (extract_operator lhs: (identifier) @reference.call rhs: (identifier) @_new) (#eq? @_new "new"))

(if_statement) @branch
(binary_operator operator: ["&&" "||"]) @branch
(call function: (identifier) @_branch (#any-of? @_branch "ifelse" "switch" "tryCatch")) @branch
[(for_statement) (repeat_statement) (while_statement)] @loop
(call function: (identifier) @_loop (#any-of? @_loop "Map" "apply" "lapply" "mapply" "sapply" "vapply")) @loop
