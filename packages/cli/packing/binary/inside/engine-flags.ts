/** Replaces `packages/cli/src/engine-flags.ts`. */

/** Does nothing: the executable starts with these settings, because V8 rejects code that was compiled under others. */
export function setEngineFlags(): void {}
