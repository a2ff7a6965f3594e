//! What a pool costs when two threads use it at the same time.
//!
//! Bodies in memory, of 64 KiB in two frames, which take a few microseconds to copy: the
//! smaller the body, the more of its time is the pool's.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use presized::{BufferPool, Collect};
use presized_support::drive::drive;
use presized_support::pattern::{Pattern, is_whole, prepare};

const LENGTH: u64 = 64 << 10;
const IDLE: usize = 1 << 20;

fn read(pool: Option<&BufferPool>) -> Bytes {
    let body = Pattern::of(LENGTH).in_frames_of(32 << 10);
    let collect = Collect::new(body, LENGTH);
    let collect = if let Some(pool) = pool { collect.pool(pool) } else { collect };
    drive(collect.bytes()).expect("the body is right")
}

/// Time for `iterations` bodies on each of as many threads as there are pools.
fn time(pools: &[Option<&BufferPool>], iterations: u64) -> Duration {
    let barrier = Barrier::new(pools.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = pools
            .iter()
            .map(|&pool| {
                let barrier = &barrier;
                scope.spawn(move || {
                    assert!(is_whole(&read(pool), LENGTH));
                    barrier.wait();
                    let start = Instant::now();
                    for _ in 0..iterations {
                        std::hint::black_box(read(pool));
                    }
                    start.elapsed()
                })
            })
            .collect();
        let times = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        times.max().unwrap_or_default()
    })
}

fn contention(criterion: &mut Criterion) {
    prepare();
    let [first, second] = [0, 1].map(|_| BufferPool::new(IDLE));
    let cases: [(&str, &[Option<&BufferPool>]); 5] = [
        ("no pool, one thread", &[None]),
        ("pool, one thread", &[Some(&first)]),
        ("no pool, two threads", &[None, None]),
        ("two pools, two threads", &[Some(&first), Some(&second)]),
        ("one pool, two threads", &[Some(&first), Some(&first)]),
    ];
    let mut group = criterion.benchmark_group("pool");
    for (name, pools) in cases {
        let id = BenchmarkId::from_parameter(name);
        group.bench_function(id, |bencher| bencher.iter_custom(|count| time(pools, count)));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(30);
    targets = contention
}
criterion_main!(benches);
