(function_definition name: (identifier) @name body: (_) @body) @definition.function
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(class_definition superclasses: (argument_list [
  (identifier) @reference.base
  (attribute attribute: (identifier) @reference.base)
  (subscript value: [(identifier) @reference.base (attribute attribute: (identifier) @reference.base)])]))
(decorated_definition definition: (_) @wrapped) @wrapper
(decorator) @signature.omit

; name = lambda …
(assignment left: (identifier) @name right: (lambda body: (_) @body)) @definition.function
(type_alias_statement left: (type) @name) @definition.type

(comment) @comment
(ERROR) @error
(MISSING) @error
