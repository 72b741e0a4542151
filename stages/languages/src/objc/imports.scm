(module_import) @import
