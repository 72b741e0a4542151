//! Mutations of single fields of a data file (LMDB, 64 bits, little-endian).
//!
//! Random bytes seldom hit the structures that LMDB relies on. Therefore a mutation chooses a field of the structure,
//! such as a page number, an offset, a count, or an entry in a list of free pages. It sets the field to a value that is
//! likely to cause harm: an end of its range, a neighbouring value, the value of another field, or the number of the
//! page itself.

use std::collections::BTreeMap;
use std::ops::Range;

const PAGE: usize = 4096;
const HEAD: usize = 16;
const NODE: usize = 8;
const NONE: usize = usize::MAX;
/// Tables whose values end in a checksum. The checksum covers the number of the table, the key, and the value. The
/// number of a table is its index in this list.
const SEALED: [&str; 11] =
    ["meta", "chunks", "sources", "represent", "content", "files", "blames", "dict", "post", "lengths", "codes"];

/// A number in the file, which a mutation may change.
#[derive(Debug, Clone, Copy)]
struct Field {
    at: usize,
    width: usize,
}

/// A value that ends in a checksum.
#[derive(Debug, Clone)]
struct Sealed {
    /// Number of the table.
    mark: u8,
    /// Offset of the node in the file.
    node: usize,
    key: Range<usize>,
    value: Range<usize>,
    /// Whether the value is in overflow pages.
    is_big: bool,
}

/// All fields of an undamaged file that a mutation may change.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    fields: BTreeMap<&'static str, Vec<Field>>,
    values: Vec<Sealed>,
    /// Numbers of the pages of trees, and of the first page of each large value.
    pages: Vec<usize>,
}

/// A mutation of a file.
#[derive(Debug)]
pub(crate) struct Mutation {
    /// Description for failure messages.
    pub(crate) what: String,
    /// Whether a value was changed together with its checksum. Then the file is a valid index with other content.
    pub(crate) resealed: bool,
}

impl Sites {
    /// Finds the fields of the newest generation of an undamaged file, and the fields of both meta pages.
    pub(crate) fn from_data(data: &[u8]) -> Self {
        let mut sites = Self::default();
        for meta in [0, PAGE] {
            sites.head("meta page", meta, &[("flags", 10, 2)]);
            let names = [("magic", 16, 4), ("version", 20, 4), ("address", 24, 8), ("map size", 32, 8)];
            let names = names.into_iter().chain([("last page", 136, 8), ("transaction", 144, 8)]);
            names.for_each(|(name, at, width)| sites.add(name, meta + at, width));
            sites.record("record of free pages", meta + 40);
            sites.record("record of names", meta + 88);
        }
        let newest = if word(data, 144) > word(data, PAGE + 144) { 0 } else { PAGE };
        let mut tables = Vec::new();
        sites.tree(data, newest + 40, &mut |sites, value: &Sealed| {
            let words = value.value.clone().step_by(8);
            words.enumerate().for_each(|(index, at)| sites.add(if index == 0 { "list length" } else { "list" }, at, 8));
        });
        sites.tree(data, newest + 88, &mut |sites, value: &Sealed| {
            sites.record("record of a table", value.value.start);
            let name = &data[value.key.clone()];
            let mark = SEALED.iter().position(|table| table.as_bytes() == name);
            tables.push((value.value.start, mark));
        });
        for (record, mark) in tables {
            sites.tree(data, record, &mut |sites, value: &Sealed| {
                sites.values.extend(mark.map(|mark| Sealed { mark: mark as u8, ..value.clone() }));
            });
        }
        sites
    }

    /// Makes one, two or four changes. The same seed gives the same changes.
    pub(crate) fn mutate(&self, data: &mut [u8], seed: u64) -> Mutation {
        let mut random = Random(seed);
        let mut mutation = Mutation { what: format!("seed {seed}"), resealed: false };
        let changes = match random.below(8) {
            0..5 => 1,
            5 | 6 => 2,
            _ => 4,
        };
        for _ in 0..changes {
            let what = match random.below(12) {
                0 => self.exchange(data, &mut random),
                1 if !self.values.is_empty() => {
                    mutation.resealed = true;
                    self.reseal(data, &mut random)
                }
                _ => self.set(data, &mut random),
            };
            mutation.what += &format!("; {what}");
        }
        mutation
    }

    /// Sets a field to a value that is likely to cause harm.
    fn set(&self, data: &mut [u8], random: &mut Random) -> String {
        let (name, fields) = self.fields.iter().nth(random.below(self.fields.len())).expect("the index is in range");
        let field = fields[random.below(fields.len())];
        let old = field.get(data);
        let max = if field.width == 8 { u64::MAX } else { (1 << (8 * field.width)) - 1 };
        let half = 8 * field.width as u64 / 2;
        let page = (field.at / PAGE) as u64;
        let any = self.pages[random.below(self.pages.len())] as u64;
        let new = match random.below(18) {
            0 => 0,
            1 => 1,
            2 => 2,
            3 => max,
            4 => max - 1,
            5 => max / 2,
            6 => max / 2 + 1,
            7 => old.wrapping_add(1),
            8 => old.wrapping_sub(1),
            9 => old | max << half,
            10 => old ^ 1 << random.below(8 * field.width),
            11 => page,
            12 => any,
            13 => self.pages[0] as u64,
            14 => (data.len() / PAGE) as u64 - random.below(3) as u64,
            15 => old.wrapping_mul(2),
            16 => fields[random.below(fields.len())].get(data),
            _ => random.next(),
        };
        field.put(data, new & max);
        format!("{name} in page {page}: {old:#x} becomes {:#x}", new & max)
    }

    /// Copies a page over another page, or exchanges two fields of the same kind.
    fn exchange(&self, data: &mut [u8], random: &mut Random) -> String {
        let (from, to) = (self.pages[random.below(self.pages.len())], self.pages[random.below(self.pages.len())]);
        if random.below(2) == 0 {
            data.copy_within(from * PAGE + 8..(from + 1) * PAGE, to * PAGE + 8);
            return format!("page {from} is copied to page {to}");
        }
        let (name, fields) = self.fields.iter().nth(random.below(self.fields.len())).expect("the index is in range");
        let (a, b) = (fields[random.below(fields.len())], fields[random.below(fields.len())]);
        let (first, second) = (a.get(data), b.get(data));
        a.put(data, second);
        b.put(data, first);
        format!("{name} at {} and {} are exchanged", a.at, b.at)
    }

    /// Changes a value, or shortens a large value, and updates the checksum of the value.
    fn reseal(&self, data: &mut [u8], random: &mut Random) -> String {
        let Sealed { mark, node, key, value, is_big } = self.values[random.below(self.values.len())].clone();
        let mut length = value.len();
        if is_big && random.below(2) == 0 {
            length = 4 + random.below(length - 4);
            Field { at: node, width: 4 }.put(data, length as u64);
            let count = (HEAD + length).div_ceil(PAGE);
            Field { at: value.start - 4, width: 4 }.put(data, count as u64);
        } else if length > 4 {
            data[value.start + random.below(length - 4)] ^= 1 << random.below(8);
        }
        if length >= 4 {
            let end = value.start + length - 4;
            let sealed = [&[mark], &data[key], &data[value.start..end]].concat();
            data[end..end + 4].copy_from_slice(&crc32fast::hash(&sealed).to_le_bytes());
        }
        format!("a value of {} is changed and sealed", SEALED[usize::from(mark)])
    }

    fn tree(&mut self, data: &[u8], record: usize, each: &mut dyn FnMut(&mut Self, &Sealed)) {
        let root = word(data, record + 40);
        let mut open = Vec::from_iter((root != NONE).then_some(root));
        while let Some(number) = open.pop() {
            let page = number * PAGE;
            self.pages.push(number);
            let is_leaf = data[page + 10] & 2 != 0;
            let kind = if is_leaf { "leaf" } else { "branch" };
            self.head(kind, page, &[("flags", 10, 2), ("lower", 12, 2), ("upper", 14, 2)]);
            for index in 0..(half(data, page + 12) - HEAD) / 2 {
                self.add("node offset", page + HEAD + 2 * index, 2);
                let node = page + half(data, page + HEAD + 2 * index);
                self.add("key size", node + 6, 2);
                let key = node + NODE..node + NODE + half(data, node + 6);
                if !is_leaf {
                    self.add("child", node, 6);
                    open.push(word(data, node) & 0xffff_ffff_ffff);
                    continue;
                }
                self.add("value size", node, 4);
                self.add("node flags", node + 4, 2);
                self.add("key", key.start, key.len().min(8));
                let (size, is_big) = (word(data, node) & 0xffff_ffff, data[node + 4] & 1 != 0);
                let mut start = key.end;
                if is_big {
                    self.add("overflow page", start, 8);
                    let first = word(data, start);
                    self.pages.push(first);
                    self.head("overflow", first * PAGE, &[("overflow flags", 10, 2), ("overflow count", 12, 4)]);
                    start = first * PAGE + HEAD;
                }
                each(self, &Sealed { mark: 0, node, key, value: start..start + size, is_big });
            }
        }
    }

    fn head(&mut self, kind: &'static str, page: usize, fields: &[(&'static str, usize, usize)]) {
        self.add(kind, page, 8);
        self.add("pad", page + 8, 2);
        fields.iter().for_each(|&(name, at, width)| self.add(name, page + at, width));
    }

    fn record(&mut self, kind: &'static str, at: usize) {
        for (at, width) in
            [(at, 4), (at + 4, 2), (at + 6, 2), (at + 8, 8), (at + 16, 8), (at + 24, 8), (at + 32, 8), (at + 40, 8)]
        {
            self.add(kind, at, width);
        }
    }

    fn add(&mut self, name: &'static str, at: usize, width: usize) {
        self.fields.entry(name).or_default().push(Field { at, width });
    }
}

impl Field {
    fn get(self, data: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        bytes[..self.width].copy_from_slice(&data[self.at..self.at + self.width]);
        u64::from_le_bytes(bytes)
    }

    fn put(self, data: &mut [u8], value: u64) {
        data[self.at..self.at + self.width].copy_from_slice(&value.to_le_bytes()[..self.width]);
    }
}

/// The random number generator SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

fn word(data: &[u8], at: usize) -> usize {
    u64::from_le_bytes(data[at..at + 8].try_into().expect("the slice has eight bytes")) as usize
}

fn half(data: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([data[at], data[at + 1]]))
}
