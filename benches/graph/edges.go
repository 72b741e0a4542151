// Prints the relations that go/types finds in a module, one per line, for `cargo xtask bench graph`.
//
// usage: GO111MODULE=off go run edges.go ROOT > edges.tsv
//
// Packages outside the module and the standard library are treated as empty, so dependencies need not be installed. The
// lines have the format of scip_edges.py. `base` denotes every interface of the module that one of its types
// implements, and every embedded type.
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

type loader struct {
	root, module string
	files        *token.FileSet
	standard     types.Importer
	packages     map[string]*types.Package
	infos        map[string]*types.Info
	syntax       map[string][]*ast.File
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	files := token.NewFileSet()
	l := &loader{root, module(root), files, importer.ForCompiler(files, "source", nil), map[string]*types.Package{}, map[string]*types.Info{}, map[string][]*ast.File{}}
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.IsDir() {
			below, _ := filepath.Rel(root, path)
			l.Import(strings.TrimSuffix(l.module+"/"+filepath.ToSlash(below), "/."))
		}
		return nil
	})
	var named []*types.Named
	for path, pkg := range l.packages {
		if !strings.HasPrefix(path, l.module) || pkg == nil {
			continue
		}
		l.calls(path)
		for _, name := range pkg.Scope().Names() {
			if object, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && !object.IsAlias() {
				if t, ok := object.Type().(*types.Named); ok {
					named = append(named, t)
				}
			}
		}
	}
	for _, t := range named {
		l.bases(t, named)
	}
}

func module(root string) string {
	text, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	for _, line := range strings.Split(string(text), "\n") {
		if name, found := cutPrefix(line, "module "); found {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// Import type-checks a package of the module from its sources.
func (l *loader) Import(path string) (*types.Package, error) {
	if pkg, known := l.packages[path]; known {
		return pkg, nil
	}
	below, inside := cutPrefix(path, l.module)
	if !inside {
		parts := strings.Split(path, "/")
		pkg := types.NewPackage(path, parts[len(parts)-1])
		pkg.MarkComplete()
		if !strings.Contains(parts[0], ".") {
			if known, err := l.standard.Import(path); err == nil {
				pkg = known
			}
		}
		l.packages[path] = pkg
		return pkg, nil
	}
	directory := filepath.Join(l.root, below)
	context := build.Default
	found, err := context.ImportDir(directory, 0)
	if err != nil {
		return types.NewPackage(path, filepath.Base(path)), nil
	}
	var parsed []*ast.File
	for _, name := range append(found.GoFiles, found.TestGoFiles...) {
		file, err := parser.ParseFile(l.files, filepath.Join(directory, name), nil, 0)
		if err == nil {
			parsed = append(parsed, file)
		}
	}
	l.packages[path] = types.NewPackage(path, found.Name) // for cycles
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true}
	pkg, _ := config.Check(path, l.files, parsed, info)
	l.packages[path], l.infos[path], l.syntax[path] = pkg, info, parsed
	return pkg, nil
}

func (l *loader) calls(path string) {
	info := l.infos[path]
	for _, file := range l.syntax[path] {
		fmt.Printf("file\t%s\n", l.path(file.Pos()))
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.CallExpr:
				l.call(info, node.Fun)
			case *ast.CompositeLit:
				if node.Type != nil {
					l.call(info, node.Type)
				}
			}
			return true
		})
	}
}

func (l *loader) call(info *types.Info, function ast.Expr) {
	for {
		switch at := function.(type) {
		case *ast.ParenExpr:
			function = at.X
		case *ast.IndexExpr:
			function = at.X
		case *ast.StarExpr:
			function = at.X
		case *ast.SelectorExpr:
			function = at.Sel
		case *ast.Ident:
			object := info.Uses[at]
			if object == nil || object.Pkg() == nil || !strings.HasPrefix(object.Pkg().Path(), l.module) {
				return
			}
			l.print("call", at.Pos(), object)
			return
		default:
			return
		}
	}
}

func (l *loader) bases(t *types.Named, all []*types.Named) {
	if structure, ok := t.Underlying().(*types.Struct); ok {
		for i := 0; i < structure.NumFields(); i++ {
			if field := structure.Field(i); field.Embedded() {
				l.base(t, field.Type())
			}
		}
	}
	if types.IsInterface(t) {
		for i := 0; i < t.Underlying().(*types.Interface).NumEmbeddeds(); i++ {
			l.base(t, t.Underlying().(*types.Interface).EmbeddedType(i))
		}
		return
	}
	for _, other := range all {
		contract, ok := other.Underlying().(*types.Interface)
		if ok && contract.NumMethods() > 0 && other != t && (types.Implements(t, contract) || types.Implements(types.NewPointer(t), contract)) {
			l.print("base", t.Obj().Pos(), other.Obj())
		}
	}
}

func (l *loader) base(t *types.Named, base types.Type) {
	if pointer, ok := base.(*types.Pointer); ok {
		base = pointer.Elem()
	}
	if named, ok := base.(*types.Named); ok && named.Obj().Pkg() != nil && strings.HasPrefix(named.Obj().Pkg().Path(), l.module) {
		l.print("base", t.Obj().Pos(), named.Obj())
	}
}

func (l *loader) print(kind string, from token.Pos, to types.Object) {
	fmt.Printf("%s\t%s\t%d\t%s\t%d\t%s\n", kind, l.path(from), l.files.Position(from).Line, l.path(to.Pos()), l.files.Position(to.Pos()).Line, to.Name())
}

func (l *loader) path(at token.Pos) string {
	below, _ := filepath.Rel(l.root, l.files.Position(at).Filename)
	return filepath.ToSlash(below)
}

func cutPrefix(text, prefix string) (string, bool) {
	return strings.TrimPrefix(text, prefix), strings.HasPrefix(text, prefix)
}
