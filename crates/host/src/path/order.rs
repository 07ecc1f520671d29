//! Putting a graph of layers in order, top first.

use record::Layer;
use std::collections::HashMap;

/// Sorts layers so that each stands before everything below it; layers of one height keep their order.
///
/// Height is the longest way from the top, found by relaxing all edges as often as there are layers; a loop in a
/// torn tree therefore ends as well.
pub(crate) fn top_first(mut layers: Vec<Layer>) -> Vec<Layer> {
    let index: HashMap<&str, usize> = layers.iter().enumerate().map(|(i, l)| (l.name.as_str(), i)).collect();
    let edges: Vec<(usize, usize)> = layers
        .iter()
        .enumerate()
        .flat_map(|(i, l)| l.below.iter().map(move |b| (i, b)))
        .filter_map(|(i, b)| Some((i, *index.get(b.as_str())?)))
        .collect();
    let mut height = vec![0_usize; layers.len()];
    for _ in 0..layers.len() {
        let mut moved = false;
        for &(above, below) in &edges {
            if height[below] <= height[above] && height[above] < layers.len() {
                height[below] = height[above] + 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let mut keyed: Vec<(usize, Layer)> = height.into_iter().zip(layers.drain(..)).collect();
    keyed.sort_by_key(|(height, _)| *height);
    keyed.into_iter().map(|(_, layer)| layer).collect()
}
