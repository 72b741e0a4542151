[(using_declaration) (namespace_alias_definition)] @import
