//! A reader of BTF, the kernel's description of its own types: just enough to find where a field stands in a type of
//! a module (split BTF, which the loader library does not read) and how many arguments a tracepoint has.

const MAGIC: u16 = 0xeb9f;

const KIND_PTR: u32 = 2;
const KIND_STRUCT: u32 = 4;
const KIND_UNION: u32 = 5;
const KIND_TYPEDEF: u32 = 8;
const KIND_FUNC_PROTO: u32 = 13;

struct Type {
    name: u32,
    info: u32,
    /// Size, or the type referred to.
    size_or_type: u32,
    /// Where what follows the type stands in the data.
    rest: usize,
}

impl Type {
    fn kind(&self) -> u32 {
        self.info >> 24 & 0x1f
    }

    fn entries(&self) -> usize {
        (self.info & 0xffff) as usize
    }

    /// Bytes that follow the three words of every type.
    fn rest_bytes(&self) -> Option<usize> {
        Some(match self.kind() {
            1 | 14 | 17 => 4,
            3 => 12,
            4 | 5 | 15 | 19 => 12 * self.entries(),
            6 | 13 => 8 * self.entries(),
            2 | 7..=12 | 16 | 18 => 0,
            _ => return None,
        })
    }
}

/// One BTF image, alone or upon a base.
pub(super) struct Btf<'a> {
    data: &'a [u8],
    types: Vec<Type>,
    strings: (usize, usize),
    base: Option<&'a Btf<'a>>,
}

impl<'a> Btf<'a> {
    /// Reads an image; `base` is the kernel's own where the image is a module's. `None` when it is not understood.
    pub(super) fn parse(data: &'a [u8], base: Option<&'a Btf<'a>>) -> Option<Self> {
        if u16::from_ne_bytes(data.get(..2)?.try_into().ok()?) != MAGIC {
            return None;
        }
        let header = word(data, 4)? as usize;
        let part = |at: usize| Some((header + word(data, at)? as usize, word(data, at + 4)? as usize));
        let (types_at, types_bytes) = part(8)?;
        let strings = part(16)?;
        data.get(strings.0..strings.0.checked_add(strings.1)?)?;
        let end = types_at.checked_add(types_bytes)?;
        data.get(types_at..end)?;
        let mut types = Vec::new();
        let mut at = types_at;
        while at < end {
            let one = Type {
                name: word(data, at)?,
                info: word(data, at + 4)?,
                size_or_type: word(data, at + 8)?,
                rest: at + 12,
            };
            at = one.rest + one.rest_bytes()?;
            types.push(one);
        }
        Some(Self { data, types, strings, base })
    }

    /// Types of the base and here; the first type has number 1.
    fn first_id(&self) -> usize {
        self.base.map_or(1, |b| b.first_id() + b.types.len())
    }

    fn strings_bytes(&self) -> usize {
        self.base.map_or(0, Btf::strings_bytes) + self.strings.1
    }

    fn string(&self, at: u32) -> &'a [u8] {
        let below = self.base.map_or(0, Btf::strings_bytes);
        let at = at as usize;
        if at < below {
            return self.base.map_or(b"", |b| b.string(at as u32));
        }
        let text = self.data.get(self.strings.0 + at - below..self.strings.0 + self.strings.1).unwrap_or(b"");
        text.split(|&b| b == 0).next().unwrap_or(b"")
    }

    fn by_id(&self, id: u32) -> Option<(&Type, &'a [u8])> {
        let first = self.first_id();
        match (id as usize).checked_sub(first) {
            Some(place) => Some((self.types.get(place)?, self.data)),
            None => self.base?.by_id(id),
        }
    }

    fn find(&self, kind: u32, name: &str) -> Option<&Type> {
        self.types.iter().find(|t| t.kind() == kind && self.string(t.name) == name.as_bytes())
    }

    /// Offset in bytes of a named member of a named structure that this image itself defines. Members of unnamed
    /// structures within it are found too.
    pub(super) fn offset_bytes(&self, structure: &str, member: &str) -> Option<u32> {
        let found = self.find(KIND_STRUCT, structure)?;
        self.member_bits(found, self.data, member, 0).map(|bits| bits / 8)
    }

    fn member_bits(&self, of: &Type, data: &[u8], member: &str, depth: u32) -> Option<u32> {
        let bit_fields = of.info >> 31 == 1;
        for entry in 0..of.entries() {
            let at = of.rest + 12 * entry;
            let name = self.string(word(data, at)?);
            let offset = word(data, at + 8)? & if bit_fields { 0x00ff_ffff } else { u32::MAX };
            if name == member.as_bytes() {
                return Some(offset);
            }
            if name.is_empty() && depth < 8 {
                let (inner, data) = self.by_id(word(data, at + 4)?)?;
                if matches!(inner.kind(), KIND_STRUCT | KIND_UNION)
                    && let Some(bits) = self.member_bits(inner, data, member, depth + 1)
                {
                    return Some(offset + bits);
                }
            }
        }
        None
    }

    /// Number of arguments that a tracepoint hands to its programs, by its `btf_trace_` type.
    pub(super) fn tracepoint_arguments(&self, name: &str) -> Option<usize> {
        let typedef = self.find(KIND_TYPEDEF, &format!("btf_trace_{name}"))?;
        let (pointer, _) = self.by_id(typedef.size_or_type)?;
        let (function, _) = self.by_id(pointer.size_or_type)?;
        // The first parameter is the tracepoint's own.
        (pointer.kind() == KIND_PTR && function.kind() == KIND_FUNC_PROTO)
            .then(|| function.entries().saturating_sub(1))
    }
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(data.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
#[path = "btf_test.rs"]
mod test;
