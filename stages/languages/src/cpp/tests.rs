//! Tests for the outline of `sample.cpp`, for the masking of text that the grammar cannot read, and for the detection
//! of C++ headers.

use super::{CPP, header};
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&CPP, include_str!("sample.cpp")), @r#"
    import vector *
    import stack.hpp *
    import demo::streams io
    import std *
    import std::string string
    function CHECKED 5-5 #define CHECKED(x) |  |  | exported
    class demo::containers::Stack 17-58 template <typename T, int N = DEPTH> class Stack final : public Base<T>, private io::Sink, virtual ns::a::Other<T> | A stack of values. |  | is Base Sink Other | exported
    type demo::containers::Stack::value_type 25-25 using value_type = T |  |  | exported
    type demo::containers::Stack::iterator 26-26 typedef T* iterator |  |  | exported
    enum demo::containers::Stack::Color 27-27 enum class Color : int |  |  | exported
    struct demo::containers::Stack::Entry 28-28 struct Entry |  |  | exported
    method demo::containers::Stack::Entry::clear 28-28 void clear() |  |  | exported
    method demo::containers::Stack::Stack 31-31 explicit Stack(int n) : count_(n) | Makes an empty stack. |  | exported
    method demo::containers::Stack::Stack 32-32 Stack() = default |  |  | exported
    method demo::containers::Stack::Stack 33-33 Stack(const Stack&) = delete |  |  | exported
    method demo::containers::Stack::~Stack 34-34 virtual ~Stack() |  |  | exported
    method demo::containers::Stack::Stack 35-35 Stack(Stack&& other) noexcept |  |  | exported
    method demo::containers::Stack::push 38-38 void push(const T& value) | Adds a value. |  | exported
    method demo::containers::Stack::push 39-39 void push(T&& value) |  | move | exported
    method demo::containers::Stack::as 40-40 template <class U> U as() const |  | front | exported
    method demo::containers::Stack::operator== 41-41 bool operator==(const Stack& other) const |  |  | exported
    method demo::containers::Stack::operator[] 42-42 T& operator[](int i) |  |  | exported
    method demo::containers::Stack::operator() 43-43 T operator()(int i) const |  |  | exported
    method demo::containers::Stack::operator bool 44-44 explicit operator bool() const |  |  | exported
    method demo::containers::Stack::operator const T* 45-45 operator const T*() const |  |  | exported
    method demo::containers::Stack::begin 46-46 T* begin() |  |  | exported
    method demo::containers::Stack::rows 47-47 const T* const* rows() const |  |  | exported
    method demo::containers::Stack::size 48-48 virtual int size() const = 0 |  |  | exported
    method demo::containers::Stack::end 49-49 auto end() -> T* override |  |  | exported
    method demo::containers::Stack::operator<< 50-50 friend std::ostream& operator<<(std::ostream& out, const Stack& stack) |  |  | exported
    method demo::containers::Stack::grow 54-54 void grow() |  |  | exported
    method demo::containers::Stack::check 57-57 bool check(int i) const |  |
    class demo::containers::Stack 61-65 template <> class Stack<bool, 8> | Bits are packed. |  | exported
    method demo::containers::Stack::flip 64-64 void flip() |  |  | exported
    method demo::containers::Stack::push 67-73 template <typename T, int N> void Stack<T, N>::push(const T& value) |  | write grow print Entry runtime_error | of demo::containers::Stack | 3 branches | 1 loops | exported
    method demo::containers::Stack::flip 75-75 template <> void Stack<bool, 8>::flip() |  |  | of demo::containers::Stack | exported
    interface demo::containers::Sized 77-77 template <typename T> concept Sized = requires(T t) { t.size(); } |  | size | exported
    function demo::containers::size_of 78-78 template <Sized T> requires Sized<T> int size_of(const T& t) |  | size | exported
    type demo::containers::Pair 79-79 template <class T> using Pair = std::pair<T, T> |  |  | exported
    function demo::containers::hidden 82-82 int hidden(int x) |  |
    struct demo::containers::Local 83-83 struct Local |  |
    function demo::containers::v1::inner 86-86 int inner() |  |  | exported
    function demo::containers::twice 91-91 auto twice = [](int x) |  |  | exported
    function demo::containers::operator== 92-92 bool operator==(const Local& a, const Local& b) |  |  | exported
    function demo::containers::operator""_kb 93-93 constexpr long operator""_kb(unsigned long long n) |  |  | exported
    struct demo::containers::origin 95-95 struct origin |  |  | exported
    struct demo::containers::Value 96-96 union Value |  |  | exported
    function c_start 100-100 extern "C" int c_start(void) |  |  | exported
    function c_stop 103-103 void c_stop(int code) | Stops. |  | exported
    method demo::Thing::Thing 106-106 demo::Thing::Thing(int x) : Base(x), y_{x} |  | init | of demo::Thing | exported
    method demo::Thing::~Thing 107-107 demo::Thing::~Thing() |  |  | of demo::Thing | exported
    method demo::Thing::operator bool 108-108 demo::Thing::operator bool() const |  |  | of demo::Thing | exported
    method demo::Thing::name 109-109 const char* demo::Thing::name() const& noexcept |  |  | of demo::Thing | exported
    method demo::Thing::run 110-110 void demo::Thing::run() |  | start stop | of demo::Thing | 1 branches | exported
    method StackTest::Pushes 112-112 TEST(StackTest, Pushes) |  | EXPECT_EQ size | of StackTest | exported
    constants: DEPTH kLimit Red Green shared total kRatio
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r##"
#define LIMIT 10
enum class Color { Red, Green = 2 };
namespace a { extern int shared; const char* const names[] = { "a" }; }
int Type::counter = 0;
auto& alias = shared;
class Type { static const int Most = 1; static int* all; int field; void f() { int local = 1; } };
auto lambda = [] { int inside = 1; };
"##;
    assert_eq!(constants_of(&CPP, source), "LIMIT Red Green shared names counter alias Most all");
}

#[test]
fn macros_do_not_hide_declarations() {
    let source = r##"
class EXPORT_API ALIGNED(8) LOCKABLE Collected : public Heap<mtInternal> {
  Q_OBJECT
  NOT_PRODUCT(void verify();)
  static int count() NOT_DEBUG_RETURN;
 public:
  DEBUG_ONLY(bool is_in_error(const void* p) const;)
  void print(const char* format, ...) const ATTRIBUTE_PRINTF(2, 3);
  bool check() const PRODUCT_RETURN0;
  int last();
};

JVM_ENTRY(jint, JVM_Count(JNIEnv *env, jobject self))
  if (self == NULL) { return -1; }
  return count(CHECK_0);
JVM_END

JRT_ENTRY(void, Runtime::resolve(JavaThread* current, Bytecode code)) {
  switch (code) { default: link(current); }
}
JRT_END

UNSAFE_ENTRY(void, Unsafe_Put(JNIEnv *env, jlong at)) {
  put(at);
} UNSAFE_END

C2V_VMENTRY_0(jint, size, (JNIEnv* env, jobject))
  return measure();
C2V_END

JNIEXPORT jlong JNICALL Java_demo_Size(JNIEnv* env) { return size(); }
TEST_VM(Suite, Works) { run(); }
void G1FullGCCompactTask::work(uint worker_id) { compact(); }
"##;
    insta::assert_snapshot!(outline(&CPP, source), @r"
    class Collected 2-11 class EXPORT_API ALIGNED(8) LOCKABLE Collected : public Heap<mtInternal> |  |  | is Heap | exported
    method Collected::verify 4-4 void verify() |  |
    method Collected::count 5-5 static int count() NOT_DEBUG_RETURN |  |
    method Collected::is_in_error 7-7 bool is_in_error(const void* p) const |  |  | exported
    method Collected::print 8-8 void print(const char* format, ...) const ATTRIBUTE_PRINTF(2, 3) |  |  | exported
    method Collected::check 9-9 bool check() const PRODUCT_RETURN0 |  |  | exported
    method Collected::last 10-10 int last() |  |  | exported
    function JVM_Count 13-16 JVM_ENTRY(jint, JVM_Count(JNIEnv *env, jobject self) |  | count | 1 branches | exported
    method Runtime::resolve 18-20 JRT_ENTRY(void, Runtime::resolve(JavaThread* current, Bytecode code)) |  | link | of Runtime | 1 branches | exported
    function Unsafe_Put 23-25 UNSAFE_ENTRY(void, Unsafe_Put(JNIEnv *env, jlong at)) |  | put | exported
    function size 27-29 C2V_VMENTRY_0(jint, size, (JNIEnv* env, jobject) |  | measure | exported
    function Java_demo_Size 31-31 JNIEXPORT jlong JNICALL Java_demo_Size(JNIEnv* env) |  | size | exported
    method Suite::Works 32-32 TEST_VM(Suite, Works) |  | run | of Suite | exported
    method G1FullGCCompactTask::work 33-33 void G1FullGCCompactTask::work(uint worker_id) |  | compact | of G1FullGCCompactTask | exported
    ");
}

#[test]
fn the_text_of_a_header_decides_whether_it_is_cpp() {
    for (text, expected) in [
        ("class Foo {\n};\n", true),
        ("#include <string>\n", true),
        ("  std::string name();\n", true),
        ("template <class T>\nT f();\n", true),
        ("#ifdef __cplusplus\nextern \"C\" {\nnamespace x {}\n#endif\nint f(void);\n", false),
        ("/* class of\n class of */\n// a::b\nint f(void);\n", false),
        ("#import <Foundation/Foundation.h>\nclass Foo;\n", false),
        ("#include <string.h>\nstruct foo { int x; };\n", false),
    ] {
        assert_eq!(header::is_cpp(text), expected, "{text}");
    }
}

#[test]
fn macros_between_a_pointer_and_its_name_are_masked() {
    let source = r##"
void Cord::take(Rep* absl_nonnull tree, int n) {}
Rep* absl_nonnull make(const char* absl_nonnull text, Rep& other) { return x * text and y; }
Rep* name attr_unused;
int* other attr_unused;
"##;
    insta::assert_snapshot!(outline(&CPP, source), @r"
    method Cord::take 2-2 void Cord::take(Rep* absl_nonnull tree, int n) |  |  | of Cord | exported
    function make 3-3 Rep* absl_nonnull make(const char* absl_nonnull text, Rep& other) |  |  | exported
    2 errors
    ");
}
