/** Replaces `packages/cli/src/engine-flags.ts`. */

/**
 * Does nothing: the executable starts with its V8 flags, because V8 rejects code that was compiled under other flags.
 */
export function setEngineFlags(): void {}
