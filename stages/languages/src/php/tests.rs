//! Tests for the outline of `sample.php`.

use super::PHP;
use crate::by_content;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&PHP, include_str!("sample.php")), @r#"
    import Psr\Log\LoggerInterface LoggerInterface
    import Illuminate\Support\Collection Collection
    import Illuminate\Support\Str Text
    import App\Support\helper helper
    import App\Support\LIMIT LIMIT
    import /bootstrap.php
    import config.php
    class App\Models\User 22-67 abstract class User extends Base\Model implements \JsonSerializable, Named | A user of the shop. |  | is Model JsonSerializable Named HasFactory Notifies | exported
    method App\Models\User::full 33-36 public string $full | The full name. |  | exported
    method App\Models\User::__construct 39-39 public function __construct(private readonly int $id, protected string $name = "x", int $plain = 0) | Promotes its parameters. |  | exported
    method App\Models\User::__destruct 41-41 public function __destruct() |  | close | exported
    method App\Models\User::role 43-43 abstract protected function role(): ?string |  |  | exported
    method App\Models\User::make 45-57 public static function make(int ...$ids): static |  | TooMany static make refresh helper slug | 5 branches | 1 loops | exported
    method App\Models\User::secret 59-66 final private function secret(): void |  | log | 2 branches | 1 loops
    interface App\Models\Named 69-73 interface Named extends HasName |  |  | is HasName | exported
    method App\Models\Named::name 72-72 public function name(): string |  |  | exported
    interface App\Models\Notifies 75-78 trait Notifies |  |  | exported
    method App\Models\Notifies::notify 77-77 private function notify() |  | wait | 2 loops
    enum App\Models\Suit 80-90 enum Suit: string implements Named |  |  | is Named | exported
    method App\Models\Suit::name 86-89 public function name(): string |  |  | 2 branches | exported
    function App\Models\add 93-93 function add(int $a, int $b): int | Adds. |  | exported
    function App\Models\double 95-95 $double = fn(int $x) |  |  | exported
    function App\Models\log 96-96 $log = function (string $text) use ($counter): void |  |  | exported
    function App\Models\home 98-98 'home' => function () |  | render | exported
    function App\Models\about 99-99 'about' => fn() |  | view | exported
    class App\Models\visitor 101-103 $visitor = new class extends Visitor |  |  | is Visitor | exported
    method App\Models\visitor::visit 102-102 public function visit() |  |  | exported
    function App\Models\handler 107-107 $this->handler = function () |  |  | exported
    constants: TOP DEFINED counter ACTIVE BLOCKED count roles groups id name KEY Hearts Spades Wild routes
    calls outside symbols: define
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"<?php
const A = 1, B = 2;
define("C", 3);
$d = 4;
class E {
    const F = 1;
    public static $g, $h = 2;
    function __construct(private int $i, int $plain) { $local = 1; }
    function run() { define('HIDDEN', 1); }
}
enum J { case K; }
function l() { $local = fn() => 1; }
"#;
    assert_eq!(constants_of(&PHP, source), "A B C d F g h i K");
}

#[test]
fn namespaces_qualify_names() {
    let source = "<?php
namespace A\\B;
class C { function d() {} }
namespace E;
function f() {}
";
    insta::assert_snapshot!(outline(&PHP, source), @r"
    class A\B\C 3-3 class C |  |  | exported
    method A\B\C::d 3-3 function d() |  |  | exported
    function E\f 5-5 function f() |  |  | exported
    ");
    let blocks = "<?php
namespace A { class B {} }
namespace { function c() {} }
";
    insta::assert_snapshot!(outline(&PHP, blocks), @r"
    class A\B 2-2 class B |  |  | exported
    function c 3-3 function c() |  |  | exported
    ");
}

#[test]
fn included_files_are_recognised_by_their_tag() {
    assert_eq!(by_content("inc", "<?php\nfunction f() {}\n").map(|language| language.name), Some("php"));
    assert!(by_content("inc", ".macro NAME\n").is_none());
}

#[test]
fn functions_between_markup_are_found() {
    let text = "<!DOCTYPE html>\n<?php\nfunction title() { return 'a'; }\n?>\n<h1><?= title() ?></h1>\n<?php function foot() {\n?>\n\
                <p>end</p>\n<?php } ?>\n";
    insta::assert_snapshot!(outline(&PHP, text), @"
    function title 3-3 function title() |  |  | exported
    function foot 6-9 function foot() |  |  | exported
    calls outside symbols: title
    ");
}
