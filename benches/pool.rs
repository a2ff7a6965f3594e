//! The cost of a pool that two threads share.
//!
//! The bodies are in memory and have 64 KiB in two frames. They take a few microseconds to copy, so
//! that the pool is a visible part of the time.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use presized::{BufferPool, Collect, Reader};
use presized_benches::record::{self, Rows, figure};
use presized_benches::turns;
use presized_support::bars::is_trial;
use presized_support::drive::drive;
use presized_support::pattern::{Pattern, is_whole, prepare};
use presized_support::table::{self, Table, median};

const LENGTH: u64 = 64 << 10;
const IDLE: u64 = 1 << 20;

fn read(pool: Option<&BufferPool>) -> Bytes {
    let body = Pattern::of(LENGTH).in_frames_of(32 << 10);
    let reader = Reader::new(LENGTH);
    let reader = if let Some(pool) = pool { reader.pool(pool) } else { reader };
    drive(Collect::new(body, reader).bytes()).expect("the body is complete")
}

/// Returns the time for `iterations` bodies on each thread. There is a thread for each pool.
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
        let times =
            threads.into_iter().map(|thread| thread.join().expect("the thread does not panic"));
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
    let mut times = cases.map(|_| Vec::new());
    let (rounds, iterations) = if is_trial() { (1, 100) } else { (25, 10_000) };
    for round in 0..rounds {
        for index in turns::order(round, cases.len()) {
            let time = time(cases[index].1, iterations).as_secs_f64();
            times[index].push(time / iterations as f64);
        }
    }
    let mut table = Table::new(1, ["", ""], ["threads and pools", "time per body"]);
    table.rule();
    let mut rows = Rows::new(["case", "wall_us"]);
    for ((name, _), times) in cases.iter().zip(times) {
        let time = median(times);
        table.row([(*name).to_owned(), table::time(Duration::from_secs_f64(time))]);
        rows.push([(*name).to_owned(), figure(time * 1e6)]);
    }
    println!("{table}");
    record::rows("pool", &rows).expect("the record can be written");

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
