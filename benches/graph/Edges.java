import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import javax.lang.model.element.Element;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Prints the relations that javac finds in a source tree, one per line, for {@code cargo xtask bench graph}.
 *
 * <p>usage: {@code java Edges.java ROOT [CLASSPATH] > edges.tsv}. The lines have the format of scip_edges.py. An
 * implicit constructor counts as its class.
 */
final class Edges extends TreePathScanner<Void, Void> {
    private final Path root;
    private final Trees trees;
    private CompilationUnitTree unit;

    private Edges(Path root, Trees trees) {
        this.root = root;
        this.trees = trees;
    }

    public static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]).toAbsolutePath().normalize();
        List<File> sources;
        try (var files = Files.walk(root)) {
            sources = files.filter(file -> file.toString().endsWith(".java") && !file.endsWith("module-info.java"))
                    .map(Path::toFile).collect(Collectors.toList());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(null, null, null);
        var options = List.of("-proc:none", "-nowarn", "-Xmaxerrs", "1", "-cp", arguments.length > 1 ? arguments[1] : "");
        var task = (JavacTask) compiler.getTask(null, manager, problem -> { }, options, null,
                manager.getJavaFileObjectsFromFiles(sources));
        Iterable<? extends CompilationUnitTree> units = task.parse();
        task.analyze();
        Edges edges = new Edges(root, Trees.instance(task));
        for (CompilationUnitTree unit : units) {
            edges.unit = unit;
            System.out.println("file\t" + edges.pathOf(unit));
            edges.scan(new TreePath(unit), null);
        }
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
        print("call", call.getMethodSelect(), trees.getElement(new TreePath(getCurrentPath(), call.getMethodSelect())));
        return super.visitMethodInvocation(call, nothing);
    }

    @Override
    public Void visitNewClass(NewClassTree call, Void nothing) {
        boolean isAnonymous = call.getClassBody() != null;
        TreePath named = isAnonymous ? new TreePath(getCurrentPath(), call.getIdentifier()) : getCurrentPath();
        print("call", call.getIdentifier(), trees.getElement(named));
        return super.visitNewClass(call, nothing);
    }

    @Override
    public Void visitMemberReference(MemberReferenceTree reference, Void nothing) {
        print("call", reference, trees.getElement(getCurrentPath()));
        return super.visitMemberReference(reference, nothing);
    }

    @Override
    public Void visitClass(ClassTree type, Void nothing) {
        if (!type.getSimpleName().isEmpty()) {
            if (type.getExtendsClause() != null) {
                printBase(type, type.getExtendsClause());
            }
            type.getImplementsClause().forEach(base -> printBase(type, base));
        }
        return super.visitClass(type, nothing);
    }

    private void printBase(ClassTree type, Tree base) {
        Element element = trees.getElement(new TreePath(getCurrentPath(), base));
        print("base", type, element);
    }

    private void print(String kind, Tree from, Element to) {
        TreePath target = to == null ? null : trees.getPath(to);
        if (target == null) {
            target = to == null || to.getEnclosingElement() == null ? null : trees.getPath(to.getEnclosingElement());
        }
        if (target == null) {
            return;
        }
        long start = trees.getSourcePositions().getEndPosition(unit, from) - 1;
        if (from instanceof ClassTree) {
            start = nameOf(unit, from);
        }
        String name = to.getSimpleName().toString();
        System.out.println(kind + "\t" + pathOf(unit) + "\t" + unit.getLineMap().getLineNumber(start) + "\t"
                + pathOf(target.getCompilationUnit()) + "\t"
                + target.getCompilationUnit().getLineMap().getLineNumber(nameOf(target.getCompilationUnit(), target.getLeaf()))
                + "\t" + (name.equals("<init>") ? "" : name));
    }

    /** Returns the position of a definition after its annotations and modifiers, which is near its name. */
    private long nameOf(CompilationUnitTree unit, Tree tree) {
        long start = trees.getSourcePositions().getStartPosition(unit, tree);
        Tree modifiers = tree instanceof ClassTree ? ((ClassTree) tree).getModifiers()
                : tree instanceof com.sun.source.tree.MethodTree ? ((com.sun.source.tree.MethodTree) tree).getModifiers() : null;
        long end = modifiers == null ? -1 : trees.getSourcePositions().getEndPosition(unit, modifiers);
        return Math.max(start, end);
    }

    private String pathOf(CompilationUnitTree unit) {
        return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
    }
}
