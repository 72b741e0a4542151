//! Tests for the outline of `sample.cs`.

use super::{CSHARP, documentation};
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&CSHARP, include_str!("sample.cs")), @r"
    import System *
    import System.Math *
    import System.Collections.Generic.Dictionary Table
    import Demo.Shared *
    class Demo.Tools.Stack 12-66 public sealed partial class Stack<T> : Base<T>, IStack, shared.ISized where T : class | A stack of T, see Demo.Queue.⏎Not thread-safe. |  | is Base IStack ISized | exported
    method Demo.Tools.Stack.Stack 24-24 public Stack(int size) : base(size) | Makes a stack.⏎size: its size⏎ArgumentException: if negative |  | exported
    method Demo.Tools.Stack.Stack 26-26 static Stack() |  | Register
    method Demo.Tools.Stack.~Stack 28-28 ~Stack() |  | Release
    method Demo.Tools.Stack.Changed 30-30 public event EventHandler Changed |  |  | exported
    method Demo.Tools.Stack.Emptied 31-31 public event EventHandler Emptied |  | Add | exported
    method Demo.Tools.Stack.Count 34-34 public int Count | Number of values. | Max | exported
    method Demo.Tools.Stack.IsEmpty 35-35 public bool IsEmpty |  |  | exported
    method Demo.Tools.Stack.this[] 36-36 public T this[int index] |  |  | exported
    method Demo.Tools.Stack.this[] 37-37 public T this[string key] |  | Find | exported
    method Demo.Tools.Stack.Push 41-54 public async Task<bool> Push<U>(T value, int times = 1) where U : new() | Adds a value.⏎Whether there was room: count < Limit. | Touch Twice Invoke Log Writer Write Failure Create | 10 branches | 4 loops | exported
    function Demo.Tools.Stack.Push.Twice 44-44 int Twice(int x) |  |
    method Demo.Tools.Stack.Clear 56-56 void IStack.Clear() |  |
    method Demo.Tools.Stack.operator + 57-57 public static Stack<T> operator +(Stack<T> a, Stack<T> b) |  |  | exported
    method Demo.Tools.Stack.operator == 58-58 public static bool operator ==(Stack<T> a, Stack<T> b) |  | Equals | exported
    method Demo.Tools.Stack.operator bool 59-59 public static implicit operator bool(Stack<T> stack) |  |  | exported
    method Demo.Tools.Stack.square 60-60 private Func<int, int> square = x |  |
    method Demo.Tools.Stack.stop 61-61 private Action stop = delegate |  | Halt
    enum Demo.Tools.Stack.State 63-63 internal enum State |  |  | exported
    struct Demo.Tools.Stack.Entry 64-64 public struct Entry |  |  | exported
    method Demo.Tools.Stack.Entry.Reset 64-64 public void Reset() |  |  | exported
    type Demo.Tools.Stack.Handler 65-65 public delegate void Handler(int code) |  |  | exported
    struct Demo.Tools.Person 68-68 public record Person(string First, string Last) : Named(First) |  |  | is Named | exported
    struct Demo.Tools.Point 69-69 public record struct Point(int X, int Y) |  |  | exported
    method Demo.Tools.Point.Sum 69-69 public int Sum() |  |  | exported
    interface Demo.Tools.IStack 71-76 public interface IStack : ISized |  |  | is ISized | exported
    method Demo.Tools.IStack.Clear 73-73 void Clear() |  |  | exported
    method Demo.Tools.IStack.Size 74-74 int Size |  |  | exported
    method Demo.Tools.IStack.Reset 75-75 void Reset() |  | Clear | exported
    class Demo.Tools.Extensions 78-82 internal static class Extensions |  |  | exported
    method Demo.Tools.Extensions.IsBlank 81-81 public static bool IsBlank(this string text) | Whether a text is blank. | Trim | exported
    class Demo.Tools.Checks 85-85 class Checks |  |  | exported
    method Demo.Tools.Checks.Run 85-85 void Run() |  |
    class Demo.Tools.Checks 87-87 class Checks |  |  | exported
    constants: Limit Least Name Open Closed
    ");
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r##"
class Limits {
  public const int Most = 3, Least = 1;
  static readonly string Name = "x";
  static int counter;
  int size = 2;
  static Func<int> Make = () => { const int hidden = 1; return hidden; };
  void Run() { const int local = 1; }
  enum State { Open, Closed = 2 }
}
"##;
    assert_eq!(constants_of(&CSHARP, source), "Most Least Name counter Open Closed");
}

#[test]
fn namespaces_qualify_names_up_to_their_end() {
    let source = "namespace A.B { class C { } namespace D { class E { } } }\nclass F { }\n";
    insta::assert_snapshot!(outline(&CSHARP, source), @r"
    class A.B.C 1-1 class C |  |  | exported
    class A.B.D.E 1-1 class E |  |  | exported
    class F 2-2 class F |  |  | exported
    ");
}

#[test]
fn documentation_has_no_tags() {
    for (text, expected) in [
        ("plain", "plain"),
        ("<summary>\nOne <see cref=\"M:A.B\"/> two.\n</summary>", "One A.B two."),
        ("<param name=\"x\">the x</param>", "x: the x"),
        ("a &lt; b, a < b <", "a < b, a < b <"),
        ("<see cref=\"A\">the A</see> <paramref name=\"y\"/>", "the A y"),
    ] {
        assert_eq!(documentation::plain(text.to_owned()), expected);
    }
}
