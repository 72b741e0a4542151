<!DOCTYPE html>
<?php
declare(strict_types=1);

namespace App\Models;

use Psr\Log\LoggerInterface;
use Illuminate\Support\{Collection, Str as Text};
use function App\Support\helper;
use const App\Support\LIMIT;

require_once __DIR__ . '/bootstrap.php';
include 'config.php';

const TOP = 1;
define('DEFINED', 2);
$counter = 0;

/**
 * A user of the shop.
 */
#[Entity(table: 'users')]
abstract class User extends Base\Model implements \JsonSerializable, Named
{
    use HasFactory, Traits\Notifies {
        HasFactory::make as protected makeOne;
    }

    public const ACTIVE = 1, BLOCKED = 2;
    private static ?int $count = 0;
    protected array $roles = [], $groups = [];
    /** The full name. */
    public string $full {
        get => $this->first . $this->last;
        set(string $value) { $this->first = $value; }
    }

    // Promotes its parameters.
    public function __construct(private readonly int $id, protected string $name = "x", int $plain = 0) {}

    public function __destruct() { close($this); }

    abstract protected function role(): ?string;

    #[Pure]
    public static function make(int ...$ids): static
    {
        if (!$ids || self::$count > 3) {
            throw new Errors\TooMany();
        } elseif ($ids[0] ?? false) {
            return new static(...$ids);
        }
        foreach ($ids as $id) {
            $user = parent::make($id)?->refresh();
        }
        return $id > 1 ? helper($user) : Text\slug($user);
    }

    final private function secret(): void
    {
        try {
            switch ($this->id) { case 1: break; default: }
        } catch (\Exception $e) {
            do { $this->log($e); } while (false);
        }
    }
}

interface Named extends HasName
{
    const KEY = 'name';
    public function name(): string;
}

trait Notifies
{
    private function notify() { for ($i = 0; $i < 3; $i++) { while (wait()) {} } }
}

enum Suit: string implements Named
{
    case Hearts = 'H';
    case Spades = 'S';
    const Wild = self::Spades;

    public function name(): string
    {
        return match ($this) { self::Hearts => 'hearts', self::Spades => 'spades', default => '' };
    }
}

/** Adds. */
function add(int $a, int $b): int { return $a + $b; }

$double = fn(int $x) => $x * 2;
$log = function (string $text) use ($counter): void { echo $text; };
$routes = [
    'home' => function () { return render(); },
    'about' => fn() => view('about'),
];
$visitor = new class extends Visitor {
    public function visit() {}
};
?>
<p><?= $counter ?></p>
<?php
$this->handler = function () {};
