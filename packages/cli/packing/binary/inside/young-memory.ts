/** In place of `packages/cli/src/young-memory.ts`. */

/** Nothing: the executable starts with these settings. V8 would refuse what was compiled under others. */
export function limitYoungMemory(): void {}
