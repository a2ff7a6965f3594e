//! The states of the allocator in which memory is measured.

/// What glibc does with memory that is freed.
#[derive(Clone, Copy, Debug)]
pub struct Allocator {
    /// What a reader calls it.
    pub name: &'static str,
    /// The environment of a process in this state.
    pub variables: &'static [(&'static str, &'static str)],
}

/// As glibc is when nobody tells it anything: its thresholds grow with what is freed.
pub const UNTUNED: Allocator = Allocator { name: "as it comes", variables: &[] };

/// Memory is kept up to the largest block for which glibc lets itself be told so, the
/// state that favours whoever allocates much.
pub const KEEPS: Allocator = Allocator {
    name: "memory kept",
    variables: &[("MALLOC_MMAP_THRESHOLD_", "30000000"), ("MALLOC_TRIM_THRESHOLD_", "2000000000")],
};

/// As in musl, and in every process before the thresholds of glibc have grown.
pub const GIVES_BACK: Allocator = Allocator {
    name: "memory given back",
    variables: &[("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")],
};
