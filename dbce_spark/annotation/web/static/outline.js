// The nodes of a page, as outline.py has them: parents, the node of each segment, the node of each block.

export class Outline {
  constructor({ parents, leaves, blocks }) {
    this.parents = parents;
    this.leaves = leaves;
    this.blocks = blocks;
    this.segmentOf = new Map(leaves.map((node, at) => [node, at]));
    // Of each node the first segment in it, and the last.
    this.first = new Array(parents.length).fill(-1);
    this.last = new Array(parents.length).fill(-1);
    leaves.forEach((leaf, at) => {
      for (let node = leaf; node >= 0; node = parents[node]) {
        if (this.first[node] < 0) this.first[node] = at;
        this.last[node] = Math.max(this.last[node], at);
      }
    });
  }

  // Resolves marks into tags of the segments: the tag of the nearest marked node; without one, that of `below`.
  tags(marks, hidden, below) {
    const reached = new Array(this.parents.length);
    this.parents.forEach((parent, node) => {
      reached[node] = marks.get(node) ?? (parent >= 0 ? reached[parent] : "");
    });
    return this.leaves.map((leaf, at) => {
      if (hidden.has(at) && !marks.has(leaf)) return "boilerplate";
      return reached[leaf] || (below ? below[at] : "");
    });
  }

  // The node that is meant where a segment is pointed at: 0 the segment, 1 its block, 2 what is around that, and so on.
  at(segment, level) {
    if (level === 0) return this.leaves[segment];
    let node = this.blocks[segment];
    for (let step = 1; step < level && this.parents[node] >= 0; step += 1) node = this.parents[node];
    return node;
  }

  // How many levels there are above a segment.
  height(segment) {
    let level = 1;
    for (let node = this.blocks[segment]; this.parents[node] >= 0; node = this.parents[node]) level += 1;
    return level;
  }

  isWithin(node, around) {
    while (node > around) node = this.parents[node];
    return node === around;
  }
}
