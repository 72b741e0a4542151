(document (object)) @definition.block @name
(array (object) @definition.block @name)
(pair key: (string) @name value: [(object) (array)] @body) @definition.block

; Operation identifiers of OpenAPI.
(pair
  key: (string (string_content) @_key)
  value: (string (string_content) @definition.constant)
  (#eq? @_key "operationId"))

(comment) @comment
(ERROR) @error
(MISSING) @error
