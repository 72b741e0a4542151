// Stacks, and what uses them.
#include <vector>
#include "stack.hpp"

#define CHECKED(x) check((x), #x)
#define DEPTH 8

namespace demo::containers {

namespace io = demo::streams;
using namespace std;
using std::string;

template <typename T> class Base;

/// A stack of values.
template <typename T, int N = DEPTH>
class Stack final : public Base<T>, private io::Sink, virtual ns::a::Other<T> {
  friend class Printer;
  T items_[N];
  static const int kLimit = 10;
  int count_;

 public:
  using value_type = T;
  typedef T* iterator;
  enum class Color : int { Red, Green };
  struct Entry { int id; void clear(); };

  /// Makes an empty stack.
  explicit Stack(int n) : count_(n) {}
  Stack() = default;
  Stack(const Stack&) = delete;
  virtual ~Stack();
  Stack(Stack&& other) noexcept;

  /// Adds a value.
  void push(const T& value);
  void push(T&& value) { items_[count_++] = std::move(value); }
  template <class U> U as() const { return static_cast<U>(front()); }
  bool operator==(const Stack& other) const { return count_ == other.count_; }
  T& operator[](int i);
  T operator()(int i) const;
  explicit operator bool() const { return count_ > 0; }
  operator const T*() const;
  T* begin() { return items_; }
  const T* const* rows() const;
  virtual int size() const = 0;
  auto end() -> T* override { return items_ + count_; }
  friend std::ostream& operator<<(std::ostream& out, const Stack& stack) { return out; }
  void (*hook)(int);

 protected:
  void grow();

 private:
  bool check(int i) const;
};

/// Bits are packed.
template <>
class Stack<bool, 8> {
 public:
  void flip();
};

template <typename T, int N>
void Stack<T, N>::push(const T& value) {
  for (auto& item : items_) { if (item == value && count_) return; }
  try { io::Sink::write<int>(value); grow(); } catch (const Error& e) { log->template print<T>(e); }
  delete new Entry{1};
  throw std::runtime_error("full");
}

template <> void Stack<bool, 8>::flip() {}

template <typename T> concept Sized = requires(T t) { t.size(); };
template <Sized T> requires Sized<T> int size_of(const T& t) { return t.size(); }
template <class T> using Pair = std::pair<T, T>;

namespace {
int hidden(int x) { return x; }
struct Local { int y; };
}

inline namespace v1 { int inner(); }

static Stack<int> shared(3);
int Registry::total = 0;
constexpr double kRatio = 1'000.5;
auto twice = [](int x) { return 2 * x; };
bool operator==(const Local& a, const Local& b);
constexpr long operator""_kb(unsigned long long n) { return n * 1024; }

struct { int x; } origin;
union Value { int i; double d; };

}  // namespace demo::containers

extern "C" int c_start(void);
extern "C" {
/* Stops. */
void c_stop(int code);
}

demo::Thing::Thing(int x) : Base(x), y_{x} { init(); }
demo::Thing::~Thing() {}
demo::Thing::operator bool() const { return true; }
const char* demo::Thing::name() const& noexcept { return R"(a ")" "b"; }
void demo::Thing::run() try { start(); } catch (...) { stop(); }

TEST(StackTest, Pushes) { Stack<int> s(1); EXPECT_EQ(s.size(), 1); }
