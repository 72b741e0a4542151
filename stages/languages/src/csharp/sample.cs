using System;
using static System.Math;
using Table = System.Collections.Generic.Dictionary<string, int>;
global using Demo.Shared;

namespace Demo.Tools;

/// <summary>A stack of <typeparamref name="T"/>, see <see cref="T:Demo.Queue"/>.</summary>
/// <remarks>
/// Not thread-safe.
/// </remarks>
[Serializable]
[DebuggerDisplay("{Count}")]
public sealed partial class Stack<T> : Base<T>, IStack, shared.ISized where T : class
{
    public const int Limit = 8, Least = 1;
    private static readonly string Name = "stack";
    private readonly T[] items = new T[Limit];
    private int count;

    /// <summary>Makes a stack.</summary>
    /// <param name="size">its size</param>
    /// <exception cref="ArgumentException">if negative</exception>
    public Stack(int size) : base(size) { items = new T[size]; }

    static Stack() { Register(); }

    ~Stack() { Release(); }

    public event EventHandler Changed;
    public event EventHandler Emptied { add { Add(value); } remove { } }

    /// <summary>Number of values.</summary>
    public int Count { get => count; private set { count = Max(value, 0); } }
    public bool IsEmpty => count == 0;
    public T this[int index] { get => items[index]; set { items[index] = value; } }
    public T this[string key] => Find(key);

    /// <summary>Adds a value.</summary>
    /// <returns>Whether there was room: <c>count &lt; Limit</c>.</returns>
    [Obsolete("use Append")]
    public async Task<bool> Push<U>(T value, int times = 1) where U : new()
    {
        int Twice(int x) { return 2 * x; }
        if (value is null || count == Limit && times > 0) { return false; }
        foreach (var item in items) { item?.Touch(); }
        for (int i = 0; i < Twice(times); i++) { Changed.Invoke<U>(this); }
        while (count > 0) { break; }
        do { count++; } while (false);
        switch (times) { case 1: Log("one"); break; default: break; }
        var size = times switch { 1 => "one", _ => "many" };
        try { await new Writer<T>(value).Write(); } catch (IOException e) { throw new shared.Failure(e); }
        return Create<bool>() ? true : fallback ?? false;
    }

    void IStack.Clear() => count = 0;
    public static Stack<T> operator +(Stack<T> a, Stack<T> b) => a;
    public static bool operator ==(Stack<T> a, Stack<T> b) => Equals(a, b);
    public static implicit operator bool(Stack<T> stack) => !stack.IsEmpty;
    private Func<int, int> square = x => x * x;
    private Action stop = delegate { Halt(); };

    internal enum State { Open, Closed = 2 }
    public struct Entry { public int Id; public void Reset() { Id = 0; } }
    public delegate void Handler(int code);
}

public record Person(string First, string Last) : Named(First);
public record struct Point(int X, int Y) { public int Sum() => X + Y; }

public interface IStack : ISized
{
    void Clear();
    int Size { get; }
    void Reset() { Clear(); }
}

internal static class Extensions
{
    /// Whether a text is blank.
    public static bool IsBlank(this string text) => text.Trim().Length == 0;
}

#if DEBUG
class Checks { void Run() { } }
#else
class Checks { }
#endif
