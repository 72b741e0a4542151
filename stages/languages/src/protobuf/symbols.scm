(package (full_ident) @name) @namespace.rest

(message (message_name) @name (message_body) @body) @definition.struct
(group (message_name) @name (message_body) @body) @definition.struct
(extend (full_ident) @name (message_body) @body) @definition.block
(enum (enum_name) @name (enum_body) @body) @definition.enum
(service (service_name) @name "{" @body) @definition.interface
(rpc (rpc_name) @name "{" @body) @definition.method
(rpc (rpc_name) @name) @definition.method

(field (identifier) @definition.constant)
(map_field (identifier) @definition.constant)
(oneof (identifier) @definition.constant)
(oneof_field (identifier) @definition.constant)
(enum_field (identifier) @definition.constant)

; The messages and enums that a message or method uses.
(message_or_enum_type (identifier) @reference.call .)

(import) @import
(comment) @comment
(ERROR) @error
(MISSING) @error
