//! Tests for the outline of `sample.dart`.

use super::DART;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&DART, include_str!("sample.dart")), @r"
    import dart:async
    import package:http/http.dart http Client Response
    import src/cart.dart Cart
    import shop.g.dart
    function square 11-11 final square = (int x) |  |  | exported
    function log 12-14 var log = (String text) |  | print | exported
    class User 20-74 abstract class User<T> extends Base<T> with Loader, mixins.Cache<T> implements Named, Comparable<User> | A customer.⏎⏎It has an [id]. |  | is Base Loader Cache Named Comparable | exported
    method User.twice 26-26 final twice = (int x) |  |  | exported
    method User.User 29-31 User(this.id, {required this.name}) : super(id) | Makes one. | register | exported
    method User.named 32-32 const User.named(this.id) : name = 'x' |  |  | exported
    method User._ 33-33 User._() |  |
    method User.fromJson 34-36 factory User.fromJson(Map<String, dynamic> json) |  | User | exported
    method User.other 37-37 factory User.other() = Other |  |  | exported
    method User.size 40-40 int get size | Its size. |  | exported
    method User.size 41-43 set size(int value) |  |  | exported
    method User.== 45-46 bool operator ==(Object other) |  |  | 2 branches | exported
    method User.[] 47-47 int operator [](int index) |  |  | exported
    method User.load 49-69 static Future<void> load(int a, [int b = 1]) |  | print busy step more send Request close inner | 3 branches | 3 loops | exported
    function User.load.next 66-66 final next = (int x) |  | Zero | 2 branches
    function User.load.inner 67-67 void inner() |  |
    method User._secret 71-71 void _secret() |  |
    method User.run 72-72 void run() |  |  | exported
    method User.native 73-73 external int native() |  |  | exported
    interface Loader 76-78 mixin Loader on Base implements Closeable |  |  | is Base Closeable | exported
    method Loader.load 77-77 void load() |  |  | exported
    class Both 80-80 mixin class Both |  |  | exported
    implementation extension Texts<T> on List<T> 82-84 extension Texts<T> on List<T> |  |  | exported
    method List.second 83-83 T get second |  |  | of List | exported
    implementation extension on String 86-88 extension on String |  |  | exported
    method String.count 87-87 int count() |  |  | of String | exported
    struct Id 90-92 extension type Id(int raw) |  |  | exported
    method Id.isValid 91-91 bool get isValid |  |  | exported
    enum Color 94-101 enum Color implements Named |  |  | is Named | exported
    method Color.Color 98-98 const Color(this.rgb) |  |  | exported
    method Color.label 100-100 String label() |  |  | exported
    type Handler 103-103 typedef Handler<T> = void Function(T value) |  |  | exported
    type Compare 104-104 typedef int Compare(int a, int b) |  |  | exported
    class Alias 106-106 class Alias = Base with Loader |  |  | is Base Loader | exported
    function add 109-109 int add(int a, int b) | Adds. |  | exported
    function count 110-110 int get count |  |  | exported
    function count 111-111 set count(int value) |  |  | exported
    function native 112-112 external void native() |  |  | exported
    function handle 113-113 external int get handle |  |  | exported
    function handle 114-114 external set handle(int value) |  |  | exported
    constants: limit _name other first second version max id name _count total red green rgb
    ");
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
const a = 1;
int b = 1, c = 2;
final closure = () { final hidden = 1; };
class D {
  static const e = 1;
  final int f;
  late int g = 1, h;
  void run() { final hidden = 1; }
}
enum I { j, k }
external int l;
"#;
    assert_eq!(constants_of(&DART, source), "a b c e f g h j k l");
}
