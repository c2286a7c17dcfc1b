/** Signed bundles of rules, as a separate entry point: most scans have none. */
export { createSigningPair } from './bundle/signing-key.ts'
export { signBundle, verifyBundle, type RulesBundle } from './bundle/rules-bundle.ts'
export { bundleLimits } from './added/bundle-limits.ts'
