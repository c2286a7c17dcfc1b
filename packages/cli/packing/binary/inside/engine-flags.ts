/** Replaces `packages/cli/src/engine-flags.ts`. */

/** Does nothing: the executable starts with its V8 flags, as V8 rejects code compiled under other flags. */
export function setEngineFlags(): void {}
