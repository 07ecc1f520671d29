use super::*;

/// An image written by hand: header, types, strings.
fn image(types: &[u32], strings: &[u8]) -> Vec<u8> {
    let words = |w: &[u32]| w.iter().flat_map(|w| w.to_ne_bytes()).collect::<Vec<u8>>();
    let types = words(types);
    let mut all = MAGIC.to_ne_bytes().to_vec();
    all.extend([1, 0]);
    all.extend(words(&[24, 0, types.len() as u32, types.len() as u32, strings.len() as u32]));
    all.extend(types);
    all.extend(strings);
    all
}

const STRINGS: &[u8] = b"\0int\0outer\0first\0inner\0btf_trace_thing\0";
const INT: u32 = 1;
const OUTER: u32 = 5;
const FIRST: u32 = 11;
const INNER: u32 = 17;
const TRACE: u32 = 23;

fn base() -> Vec<u8> {
    image(
        &[
            INT,
            1 << 24,
            4,
            32, // 1: int
            0,
            2 << 24,
            4, // 2: pointer to 4? no: to the function type below
            TRACE,
            8 << 24,
            2, // 3: typedef of the pointer
            0,
            13 << 24 | 3,
            0,
            0,
            0,
            0,
            1,
            0,
            1, // 4: function of three parameters
            0,
            4 << 24 | 1,
            4,
            INNER,
            1,
            32, // 5: unnamed structure with one member
        ],
        STRINGS,
    )
}

#[test]
fn tracepoint_arguments_leave_out_the_first() {
    let data = base();
    let btf = Btf::parse(&data, None).unwrap();
    assert_eq!(btf.tracepoint_arguments("thing"), Some(2));
    assert_eq!(btf.tracepoint_arguments("other"), None);
}

#[test]
fn members_of_a_module_are_found_upon_the_kernels_types() {
    let data = base();
    let kernel = Btf::parse(&data, None).unwrap();
    // Type 6, the module's first: a structure of one int and the kernel's unnamed structure; names from both.
    let own = STRINGS.len() as u32 + 1;
    let module = image(&[own, 4 << 24 | 2, 12, FIRST, 1, 0, 0, 5, 32], b"\0mine\0");
    let module = Btf::parse(&module, Some(&kernel)).unwrap();
    assert_eq!(module.offset_bytes("mine", "first"), Some(0));
    assert_eq!(module.offset_bytes("mine", "inner"), Some(8), "through the unnamed structure");
    assert_eq!(module.offset_bytes("mine", "absent"), None);
    assert_eq!(kernel.offset_bytes("mine", "first"), None);
    assert_eq!(OUTER, 5);
}

#[test]
fn bad_images_are_refused() {
    let good = base();
    for cut in 0..good.len() - STRINGS.len() {
        assert!(Btf::parse(&good[..cut], None).is_none(), "cut at {cut}");
    }
    assert!(Btf::parse(b"\x7fELF and more than that, but nothing of use", None).is_none());
}
