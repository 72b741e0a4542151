(const_item name: (identifier) @definition.constant)
(static_item name: (identifier) @definition.constant)
(associated_type name: (type_identifier) @definition.constant)
(enum_variant name: (identifier) @definition.constant)
(block) @local.scope
