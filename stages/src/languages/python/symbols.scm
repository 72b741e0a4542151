(function_definition name: (identifier) @name body: (_) @body) @function
(class_definition name: (identifier) @name body: (_) @body) @class
(class_definition superclasses: (argument_list [(identifier) @base (attribute attribute: (identifier) @base)]))
(decorated_definition definition: (_) @inner) @outer
(decorator) @skip

; name = lambda …
(assignment left: (identifier) @name right: (lambda body: (_) @body)) @function
(type_alias_statement left: (type) @name) @type

(comment) @comment
(ERROR) @error
(MISSING) @error
