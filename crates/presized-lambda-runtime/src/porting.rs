#![doc = include_str!("porting.md")]
