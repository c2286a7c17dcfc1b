/** Replaces `packages/cli/src/young-memory.ts`. */

/** Does nothing: the executable starts with these settings, because V8 rejects code that was compiled under others. */
export function limitYoungMemory(): void {}
