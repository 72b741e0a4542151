[(library_import) (library_export) (part_directive) (part_of_directive)] @import
