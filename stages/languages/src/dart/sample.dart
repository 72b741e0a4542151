library shop;

import 'dart:async';
import 'package:http/http.dart' as http show Client, Response hide get;
export 'src/cart.dart' show Cart;
part 'shop.g.dart';

const limit = 10;
final String _name = 'x', other = 'y';
int first = 1, second = 2;
final square = (int x) => x * x;
var log = (String text) {
  print(text);
};
external int version;

/// A customer.
///
/// It has an [id].
@immutable
abstract class User<T> extends Base<T> with Loader, mixins.Cache<T> implements Named, Comparable<User> {
  static const max = 3;
  final int id;
  late String name;
  int _count = 0, total = 1;
  final twice = (int x) => x + x;

  /// Makes one.
  User(this.id, {required this.name}) : super(id) {
    register(this);
  }
  const User.named(this.id) : name = 'x';
  User._();
  factory User.fromJson(Map<String, dynamic> json) {
    return User(json['id']);
  }
  factory User.other() = Other;

  // Its size.
  int get size => items.length;
  set size(int value) {
    _count = value;
  }

  @override
  bool operator ==(Object other) => other is User && other.id == id || false;
  int operator [](int index) => index;

  static Future<void> load(int a, [int b = 1]) async {
    if (a > b) {
      for (final item in items) print(item);
    }
    while (busy()) {}
    do {
      step();
    } while (more());
    try {
      await client.send(new Request(a))..close();
    } catch (e) {
      switch (a) {
        case 1:
          break;
        default:
      }
    }
    final next = (int x) => a > 1 ? a : b ?? const Zero();
    void inner() {}
    inner();
  }

  void _secret() {}
  void run();
  external int native();
}

mixin Loader on Base implements Closeable {
  void load() {}
}

mixin class Both {}

extension Texts<T> on List<T> {
  T get second => this[1];
}

extension on String {
  int count() => length;
}

extension type Id(int raw) {
  bool get isValid => raw > 0;
}

enum Color implements Named {
  red(1),
  green(2);

  const Color(this.rgb);
  final int rgb;
  String label() => 'c';
}

typedef Handler<T> = void Function(T value);
typedef int Compare(int a, int b);

class Alias = Base with Loader;

/// Adds.
int add(int a, int b) => a + b;
int get count => 1;
set count(int value) {}
external void native();
external int get handle;
external set handle(int value);
