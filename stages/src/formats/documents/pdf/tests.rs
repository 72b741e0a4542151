use std::io::Write;

use proptest::prelude::*;

use super::super::error::MAX_MARKUP_BYTES;
use super::*;

/// Returns a file whose objects are numbered from 1. The first object is the catalog.
fn pdf<T: AsRef<[u8]>>(objects: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    for (index, object) in objects.into_iter().enumerate() {
        file.extend(format!("{} 0 obj\n", index + 1).bytes());
        file.extend(object.as_ref());
        file.extend(b"\nendobj\n");
    }
    file.extend(b"trailer\n<</Root 1 0 R>>\nstartxref\n0\n%%EOF\n");
    file
}

fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    let head = format!("<<{entries}/Length {}>>\nstream\n", data.len());
    [head.as_bytes(), data, b"\nendstream"].concat()
}

fn deflated(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Returns a file with one page that has the given content. The additional objects are numbered from 5.
fn page(content: &str, additional: &[&str]) -> Vec<u8> {
    let content = String::from_utf8(stream("", content.as_bytes())).unwrap();
    let fixed = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>",
        "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>",
        &content,
    ];
    pdf(fixed.iter().chain(additional))
}

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

#[test]
fn positions_determine_words_lines_and_paragraphs() {
    let content =
        "BT /F 10 Tf 72 700 Td (One) Tj 40 0 Td (two \\(\\351\\)) Tj 0 -12 Td [(th) 20 (ree) -400 <666F7572>] TJ
                   0 -40 Td (five) ' 1 0 0 1 72 100 Tm (six) Tj ET";
    assert_eq!(text(&page(content, &[HELVETICA])).unwrap(), "# Page 1\nOne two (é)\nthree four\n\nfive\n\nsix\n");
}

#[test]
fn outline_titles_become_headings_on_their_pages() {
    let show = |lines: &str| stream("", format!("BT /F 10 Tf 12 TL 72 700 Td {lines} ET").as_bytes());
    let file = pdf([
        b"<</Type/Catalog/Pages 2 0 R/Outlines 8 0 R/Names<</Dests 12 0 R>>>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R 4 0 R]/Resources<</Font<</F 7 0 R>>>>>>".to_vec(),
        b"<</Type/Page/Contents 5 0 R>>".to_vec(),
        b"<</Type/Page/Contents[6 0 R]>>".to_vec(),
        show("(1 Install) Tj T* (Run it.) Tj"),
        show("(Use) Tj T* (1.1 Flags) Tj T* (None.) Tj"),
        HELVETICA.into(),
        b"<</First 9 0 R>>".to_vec(),
        b"<</Title(Install)/Dest[3 0 R/Fit]/Next 10 0 R>>".to_vec(),
        b"<</Title<FEFF005500730065>/A<</S/GoTo/D(use)>>/First 11 0 R>>".to_vec(),
        b"<</Title(Flags)/Dest(use)/Next 13 0 R>>".to_vec(),
        b"<</Kids[<</Names[(use)<</D[4 0 R/Fit]>>]>>]>>".to_vec(),
        b"<</Title(Elsewhere)/Dest(use)>>".to_vec(),
    ]);
    let expected = "# 1 Install\nRun it.\n\n## Elsewhere\n\n# Use\n\n## 1.1 Flags\nNone.\n";
    assert_eq!(text(&file).unwrap(), expected);
}

#[test]
fn object_streams_and_to_unicode_maps_are_read() {
    let packed = "5 0 6 97 <</Subtype/Type0/Encoding/Identity-H/ToUnicode 7 0 R/DescendantFonts[6 0 R]>>                <</DW 500/W[1[600 600]]>>";
    let first = packed.find("<<").unwrap();
    let packed = packed.replace("97", &(packed.rfind("<<").unwrap() - first).to_string());
    let map = "2 beginbfchar <0001> <00480069> <0002> <FB01> endbfchar 1 beginbfrange <0003> <0005> <0061> endbfrange";
    let file = pdf([
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Kids[3 0 R]>>".to_vec(),
        b"<</Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>".to_vec(),
        stream("/Filter/FlateDecode", &deflated(b"BT /F 10 Tf <0001000200040005> Tj ET")),
        b"null".to_vec(),
        b"null".to_vec(),
        stream("/Filter[/FlateDecode]", &deflated(map.as_bytes())),
        stream(&format!("/Type/ObjStm/N 2/First {first}/Filter/FlateDecode"), &deflated(packed.as_bytes())),
    ]);
    assert_eq!(text(&file).unwrap(), "# Page 1\nHifibc\n");
}

#[test]
fn glyph_names_map_to_characters() {
    let font = "<</Subtype/Type1/Encoding<</Differences[1/ff/uni00E9/f_i/Aacute/alpha/summation/a.sc]>>>>";
    let file = page("BT /F 10 Tf <01020304050607> Tj ET", &[font]);
    assert_eq!(text(&file).unwrap(), "# Page 1\nfféfiÁα∑a\n");
}

#[test]
fn encodings_map_every_code_to_a_character() {
    for (encoding, last, quote) in
        [("WinAnsiEncoding", 'ÿ', '\''), ("MacRomanEncoding", 'ˇ', '\''), ("StandardEncoding", 'ÿ', '’')]
    {
        let character = |code| glyphs::encoded(encoding.as_bytes(), code);
        assert!((0x20..0x7f).chain(0x80..=0xff).all(|code| character(code).is_some()), "{encoding}");
        assert_eq!((character(b'A'), character(0xff), character(b'\'')), (Some('A'), Some(last), Some(quote)));
    }
}

#[test]
fn right_to_left_words_are_in_reading_order() {
    let map = "1 beginbfrange <01> <03> <05D0> endbfrange";
    let map = String::from_utf8(stream("", map.as_bytes())).unwrap();
    let file = page("BT /F 10 Tf (a \\001\\002 \\003 b) Tj ET", &["<</Subtype/Type1/ToUnicode 6 0 R>>", &map]);
    assert_eq!(text(&file).unwrap(), "# Page 1\na \u{5d2} \u{5d1}\u{5d0} b\n");
}

#[test]
fn text_in_forms_is_extracted_and_inline_images_are_skipped() {
    let form = stream("/Subtype/Form", b"BT /F 10 Tf 72 600 Td (inside) Tj ET");
    let content = "BI /W 1 ID (no) Tj EI q /X Do Q BT /F 10 Tf 72 500 Td (outside) Tj ET";
    let file = page(content, &[HELVETICA, str::from_utf8(&form).unwrap()]);
    assert_eq!(text(&file).unwrap(), "# Page 1\ninside\n\noutside\n");
}

#[test]
fn filters_decode_data() {
    let unfiltered = |filter: &[u8], data: &[u8]| filters::decode(filter, data, 1 << 10).unwrap();
    assert_eq!(unfiltered(b"ASCIIHexDecode", b"61 6 2 63>64"), b"abc");
    assert_eq!(unfiltered(b"ASCII85Decode", b"87cURD]i,\"Ebo80~>"), b"Hello World!");
    assert_eq!(unfiltered(b"RunLengthDecode", &[2, b'a', b'b', b'c', 254, b'd', 128, 9]), b"abcddd");
    // The example from the specification.
    let lzw = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
    assert_eq!(unfiltered(b"LZWDecode", &lzw), [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
}

#[test]
fn the_reason_why_a_file_has_no_text_is_reported() {
    assert!(matches!(text(b"%PDF-1.7"), Err(ExtractError::NoPdf)));
    let encrypted = [&page("", &[HELVETICA])[..], b"trailer <</Root 1 0 R/Encrypt 5 0 R>>"].concat();
    assert!(matches!(text(&encrypted), Err(ExtractError::Encrypted)));
    // The page consists of an image.
    assert_eq!(text(&page("q 100 0 0 100 0 0 cm /X Do Q", &[HELVETICA])).unwrap(), "");
}

#[test]
fn files_that_unpack_to_too_much_data_are_rejected() {
    let zeros = deflated(&vec![b' '; 2 * MAX_MARKUP_BYTES as usize + 1]);
    let twice = stream("/Filter[/FlateDecode/FlateDecode]", &deflated(&zeros));
    assert!(twice.len() < 1 << 12);
    let objects = |content: Vec<u8>| {
        let fixed: [&[u8]; 3] = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Kids[3 0 R]>>", b"<</Contents 4 0 R>>"];
        pdf(fixed.into_iter().map(<[u8]>::to_vec).chain([content]))
    };
    assert!(matches!(text(&objects(twice)), Err(ExtractError::TooLarge)));
    let packed = stream("/Type/ObjStm/N 1/First 4/Filter/FlateDecode", &zeros);
    assert!(matches!(text(&objects(packed)), Err(ExtractError::TooLarge)));
    // A chain of small form XObjects, each of which shows the next form many times.
    let form = |next: usize| {
        let resources = format!("/Subtype/Form/Resources<</XObject<</X {next} 0 R>>>>");
        stream(&resources, "/X Do ".repeat(100).as_bytes())
    };
    let fixed = page("/X Do", &[HELVETICA]);
    let mut file = fixed[..fixed.len() - 50].to_vec();
    for number in 6..14 {
        file.extend(format!("{number} 0 obj ").bytes());
        file.extend(form(number + 1));
    }
    assert!(matches!(text(&file), Err(ExtractError::TooLarge)));
}

#[test]
fn circular_references_and_deep_nesting_terminate() {
    let file = pdf([
        "<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R/Names<</Dests 5 0 R>>>>",
        "<</Kids[2 0 R 3 0 R 3 0 R]/Resources 6 0 R>>",
        "<</Kids[2 0 R]/Contents 3 0 R>>",
        "<</First 4 0 R/Next 4 0 R/Title(a)/Dest(b)>>",
        "<</Kids[5 0 R]>>",
        "6 0 R",
    ]);
    assert_eq!(text(&file).unwrap(), "");
    for nested in ["[", "<</A", "("] {
        let content = nested.repeat(1 << 18);
        assert_eq!(text(&page(&content, &[HELVETICA, &content])).unwrap(), "");
    }
}

proptest! {
    #[test]
    fn damaged_files_do_not_crash_the_process(at in 0usize..2000, byte: u8, cut in 0usize..2000) {
        let mut file = page("BT /F 10 Tf 72 700 Td [(a) 3 (b)] TJ ET /X Do", &[HELVETICA]);
        let at = at % file.len();
        file[at] = byte;
        file.drain(cut.min(file.len() - 1)..(cut + 3).min(file.len()));
        let _ = text(&file);
    }
}

#[test]
fn a_first_char_of_u32_max_does_not_overflow() {
    let font = "<</Type/Font/Subtype/Type1/FirstChar 4294967295/Widths[500 500 500]/Encoding/WinAnsiEncoding>>";
    let shown = text(&page("BT /F 10 Tf (word) Tj ET", &[font])).unwrap();
    assert!(shown.contains("word"), "{shown}");
}
