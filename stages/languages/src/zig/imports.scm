(variable_declaration [
  (builtin_function (builtin_identifier) @_import)
  (field_expression object: [
    (builtin_function (builtin_identifier) @_import)
    (field_expression object: [
      (builtin_function (builtin_identifier) @_import)
      (field_expression object: (builtin_function (builtin_identifier) @_import))])])]
  (#eq? @_import "@import")) @import
(builtin_function (builtin_identifier) @_import (#any-of? @_import "@import" "@cInclude")) @import
