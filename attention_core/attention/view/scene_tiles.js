// Pieces of a picture laid side by side in a square of side 1, each with an area that is its weight.
// Source: Bruls et al. 2000, "Squarified treemaps", section 3.1.
const LEAST = 0.0002;  // weight below which a piece is too small to be seen

// The tiles { index, x, y, w, h } of weights, the largest first; those of `groups`, 1 for each that is in it, lie on the left.
export const tilesOf = (weights, groups = []) => {
  const order = [...weights.keys()].filter((index) => weights[index] >= LEAST).sort((a, b) => weights[b] - weights[a]);
  const sumOf = (some) => some.reduce((sum, index) => sum + weights[index], 0), whole = sumOf(order), areaOf = (index) => weights[index] / whole;
  const first = order.filter((index) => groups[index]), rest = order.filter((index) => !groups[index]), wide = sumOf(first) / whole;
  return [...tilesIn({ x: 0, y: 0, w: wide, h: 1 }, first, areaOf), ...tilesIn({ x: wide, y: 0, w: 1 - wide, h: 1 }, rest, areaOf)];
};

const tilesIn = (place, order, areaOf) => {
  const tiles = [];
  let free = place, at = 0;
  while (at < order.length) {
    const side = Math.min(free.w, free.h), row = rowOf(order.slice(at).map(areaOf), side);
    const area = row.reduce((sum, one) => sum + one, 0), deep = area / side, isUpright = free.w >= free.h;
    let along = 0;
    for (const one of row) {
      const long = one / deep, index = order[at++];
      tiles.push(isUpright ? { index, x: free.x, y: free.y + along, w: deep, h: long } : { index, x: free.x + along, y: free.y, w: long, h: deep });
      along += long;
    }
    free = isUpright ? { ...free, x: free.x + deep, w: free.w - deep } : { ...free, y: free.y + deep, h: free.h - deep };
  }
  return tiles;
};

// The first areas that make the squarest row along a side.
const rowOf = (areas, side) => {
  let best = Infinity, row = areas.slice(0, 1);
  for (let n = 1; n <= areas.length; n++) {
    const some = areas.slice(0, n), sum = some.reduce((a, b) => a + b, 0);
    const worst = Math.max((side * side * some[0]) / (sum * sum), (sum * sum) / (side * side * some.at(-1)));
    if (worst > best) break;
    [best, row] = [worst, some];
  }
  return row;
};
